/** What a server of Redis is asked, command by command, and how much of that is for jobs. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { filesUnder } from '../../architecture/source-files.ts';
import type { RedisUnderTest } from '../../support/redis-servers.ts';

const ROUNDS = 40;
/** How long nothing happens, to see what is asked by the clock, whether or not there are jobs. */
const IDLE_MS = 4_000;

const SCRIPTS = new Map(
  filesUnder('packages/scheduler/src/adapters/redis', '.lua').map(({ path, text }) => [
    createHash('sha1').update(text).digest('hex'),
    path.replace(/^.*\/|\.lua$/g, ''),
  ]),
);

/** Every ten seconds, whatever happens, and all of its parts at once: a run of a few seconds has all of them or none. */
const SELDOM = 'page-nodes';

/** The commands that the server is sent, by the names of the scripts they run. The client library trips over a busy server here. */
export async function watch({ servers }: RedisUnderTest): Promise<string[]> {
  const socket = createConnection({ host: '127.0.0.1', port: servers[0]?.port ?? 0 });
  const lines = createInterface({ input: socket });
  onTestFinished(() => {
    lines.close();
    socket.destroy();
  });
  const begun = once(lines, 'line');
  socket.write('MONITOR\r\n');
  expect(await begun).toEqual(['+OK']);
  const seen: string[] = [];
  lines.on('line', (line) => {
    if (/^\+\S+ \[\d+ lua\]/.test(line)) return;
    const [command = '', script = ''] = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
      ([, word = '']) => word,
    );
    const name =
      command.toLowerCase() === 'evalsha' ? (SCRIPTS.get(script) ?? 'eval') : command.toLowerCase();
    if (name !== SELDOM) seen.push(name);
  });
  return seen;
}

export type Cost = Record<string, number>;

/** Of every command, whatever it is, per round. */
export async function costOf(
  seen: string[],
  round: () => Promise<unknown>,
  { rounds = ROUNDS, together = 1, idle = {} as Cost } = {},
): Promise<Cost> {
  seen.length = 0;
  const begunAt = performance.now();
  for (let done = 0; done < rounds; done += 1) await round();
  const tookMs = performance.now() - begunAt;
  const cost: Cost = {};
  for (const name of seen) cost[name] = (cost[name] ?? 0) + 1;
  for (const [name, perMs] of Object.entries(idle)) cost[name] = (cost[name] ?? 0) - perMs * tookMs;
  for (const name of Object.keys(cost)) cost[name] = (cost[name] ?? 0) / (rounds * together);
  return cost;
}

/** What is asked in each millisecond while nothing happens: presence, heartbeats, reads that wait. */
export async function idleOf(seen: string[], idleMs = IDLE_MS): Promise<Cost> {
  const cost = await costOf(seen, () => sleep(idleMs), { rounds: 1 });
  return Object.fromEntries(Object.entries(cost).map(([name, count]) => [name, count / idleMs]));
}

export const sum = (counts: Cost): number => Object.values(counts).reduce((a, b) => a + b, 0);

/** A job asks whole commands: what is left of a fraction is asked by the clock, more or less of it than while nothing happened. */
export const sumOfWhole = (counts: Cost): number =>
  Object.values(counts).reduce((whole, count) => whole + Math.round(count), 0);
