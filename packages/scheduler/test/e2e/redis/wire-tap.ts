/** The commands that a Redis server receives, and how many of them a job costs. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { filesUnder } from '../../architecture/source-files.ts';
import type { RedisUnderTest } from '../../support/redis-servers.ts';

const SCRIPTS = new Map(
  filesUnder('packages/scheduler/src/adapters/redis', '.lua').map(({ path, text }) => [
    createHash('sha1').update(text).digest('hex'),
    path.replace(/^.*\/|\.lua$/g, ''),
  ]),
);

/**
 * Reads every command that the server executes, with its arguments, those in scripts as well. Over a plain socket: the client
 * library fails on MONITOR of a busy server.
 */
export async function watchCommands(
  { servers }: RedisUnderTest,
  see: (words: readonly string[], isInScript: boolean) => void,
): Promise<void> {
  const socket = createConnection({ host: '127.0.0.1', port: servers[0]?.port ?? 0 });
  const lines = createInterface({ input: socket });
  onTestFinished(() => {
    lines.close();
    socket.destroy();
  });
  const begun = once(lines, 'line');
  socket.write('MONITOR\r\n');
  expect(await begun).toEqual(['+OK']);
  lines.on('line', (line) => {
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word);
    see(words, /^\+\S+ \[\d+ lua\]/.test(line));
  });
}

/** Commands that clients send, by name; scripts by the name of their file. */
export async function watch(redis: RedisUnderTest): Promise<string[]> {
  const seen: string[] = [];
  await watchCommands(redis, ([command = '', script = ''], isInScript) => {
    if (isInScript) return;
    const name = command.toLowerCase();
    seen.push(name === 'evalsha' ? (SCRIPTS.get(script) ?? 'eval') : name);
  });
  return seen;
}

export type Cost = Record<string, number>;

/** How often each command was sent, per round and job. */
export async function costOf(
  seen: string[],
  round: () => Promise<unknown>,
  { rounds = 1, together = 1 } = {},
): Promise<Cost> {
  seen.length = 0;
  for (let done = 0; done < rounds; done += 1) await round();
  const cost: Cost = {};
  for (const name of seen) cost[name] = (cost[name] ?? 0) + 1;
  for (const name of Object.keys(cost)) cost[name] = (cost[name] ?? 0) / (rounds * together);
  return cost;
}

export const sum = (counts: Cost): number => Object.values(counts).reduce((a, b) => a + b, 0);
