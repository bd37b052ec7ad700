/** The benchmark runs, prints every figure that the project promises, and answers wrong arguments with its usage. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BENCH, ensureBuilt } from '../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { eventually } from '../../packages/scheduler/test/support/eventually.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Report {
  readonly isQuick: boolean;
  readonly rounds: number;
  readonly machine: object;
  readonly figures: readonly { scenario: string; name: string; value: number; unit: string }[];
  readonly scenarios: readonly { scenario: { name: string; title: string } }[];
}

const bench = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, ['--expose-gc', BENCH, ...args], (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });

/** The promised figures, by scenario and the beginning of their names. */
const PROMISED = [
  ['decision', 'dispatches at 100 nodes'],
  ['decision', 'dispatches at 1,000 nodes'],
  ['decision', 'cost at 1,000 ÷ at 100'],
  ['heartbeats', 'CPU per heartbeat'],
  ['heartbeats', 'core used by'],
  ['heartbeats', 'rebuilds'],
  ['memory', 'per registered node'],
  ['memory', 'per job in flight'],
  ['http', 'dispatch ÷ empty route'],
  ['cycle', 'p50, 64 at once'],
  ['cycle', 'p99, 64 at once'],
  ['cycle', 'p50, one at a time'],
  ['cycle', 'p99, one at a time'],
  ['redis', 'engine, null transport ÷ BullMQ'],
  ['redis', 'with WebSocket legs ÷ BullMQ'],
  ['redis', 'p99 at 200 jobs/s, engine ÷ BullMQ'],
  ['redis', 'CPU per job, engine, null transport: its process'],
  ['redis', 'CPU per job, engine, null transport: redis-server'],
  ['redis', 'CPU per job, with WebSocket legs: its process'],
  ['redis', 'CPU per job, with WebSocket legs: process of the nodes'],
  ['redis', 'CPU per job, with WebSocket legs: redis-server'],
  ['redis', 'CPU per job, BullMQ: its process'],
  ['redis', 'CPU per job, BullMQ: redis-server'],
  ['redis-cost', 'commands per job, one at a time'],
  ['redis-cost', 'commands per job, 64 in flight'],
  ['redis-cost', 'commands per job with WebSocket legs'],
  ['redis-cost', 'commands per job, node on another instance, one at a time'],
  ['redis-cost', 'commands per job, node on another instance, 64 in flight'],
  ['redis-cost', 'commands per job, node on another instance, jobs of 300 ms, one at a time'],
  ['redis-cost', 'commands per job, node on another instance, jobs of 300 ms, Poisson arrivals, 100/s'],
  ['redis-cost', 'latency added by another instance, p99'],
  ['redis-cost', 'round trips before a job leaves'],
  ['redis-cost', 'commands to the busiest node'],
  ['redis-cost', 'bytes per finished job after its time'],
  ['redis-cost', 'keys left'],
  ['redis-cost', 'memory of Redis per idle node'],
  ['redis-cost', 'writes per heartbeat'],
  ['redis-cost', 'node registers → another instance selects it, p99'],
  ['reserve', 'first try has a slot, 3 instances'],
  ['stats', 'dispatch p99 at 200/s, no stats requests'],
  ['stats', 'dispatch p99 at 200/s, 1,000 stats requests/s beside it'],
  ['stats', 'dispatch p99 with stats requests ÷ without'],
  ['stats', 'stats p99 at 1,000/s'],
  ['live', 'CPU for one viewer of the live feed'],
  ['live', 'CPU for 5 viewers of the live feed'],
  ['live', 'dispatch p99 with 5 viewers ÷ without'],
  ['live', 'memory of the last hour'],
  ['console', 'address opened → a search shows its node, 200 nodes, 200 jobs'],
  ['console', 'frames over 50 ms, node page'],
  ['console', 'frames over 50 ms, overview'],
  ['hub', 'dispatch p99 at 200/s, hub up'],
  ['hub', 'dispatch p99, hub silent ÷ up'],
  ['hub', 'dispatch p99, hub refusing ÷ up'],
  ['hub', 'dispatched, hub silent'],
  ['hub', 'dispatched, hub refusing'],
  ['hub', 'core used by an idle scheduler without a hub'],
  ['hub', 'core used while 500 KB of services are refreshed'],
  ['rooms', 'result of a translation → last listener p50'],
  ['rooms', 'bare broadcast of the same frames p50'],
  ['rooms', 'p99 of captions ÷ of the broadcast'],
  ['rooms', 'commands per utterance on the keys of its room, 10 listeners'],
  ['rooms', 'memory (RSS) per member with its session'],
  ['stages', 'ten languages, spoken: slot-seconds whole ÷ staged'],
  ['stages', 'ten languages, captions only: slot-seconds whole ÷ staged'],
  ['stages', 'ten languages, spoken: text of the last language at 70 % load, staged, p50'],
  ['stages', 'one language, whole node: jobs per utterance'],
  ['stages', 'one language on Redis: commands, planned ÷ one job'],
  ['fairness', 'CPU per waiting job that comes back, 10,000 waiting'],
  ['fairness', 'p99 of B, flood ÷ share, weights 1:1'],
  ['fairness', 'p99 of B, flood ÷ share, one line for all, weights 1:1'],
  ['fairness', 'p99 of B, flood ÷ share, weights 3:1'],
  ['nodes', 'scheduler: CPU per decision, 20 nodes'],
  ['nodes', 'scheduler: CPU per decision, 40 nodes'],
  ['nodes', 'scheduler: CPU per heartbeat, 40 nodes'],
  ['nodes', 'naive scheduler: CPU per decision, 40 nodes'],
  ['bursts', 'scheduler: due → with a node, p99.9'],
  ['bursts', 'naive scheduler: due → with a node, p50'],
  ['redis-peers', 'scheduler: as fast as they end'],
  ['redis-peers', 'scheduler: saturation'],
  ['redis-peers', 'BullMQ: as fast as they end'],
  ['redis-peers', 'reserve script alone: as fast as they end'],
  ['redis-peers', 'reserve script alone: CPU of redis-server per job'],
  ['dispatch-path', 'scheduler: due → with a node, p50'],
  ['dispatch-path', 'scheduler: due → answered, p50'],
  ['dispatch-path', 'bare Fastify: due → answered, p50'],
  ['instances', 'scheduler: CPU per job, all instances, 2 instances'],
  ['instances', 'scheduler: Redis commands per job, 2 instances'],
  ['many-sessions', 'scheduler: memory (RSS) per session, 20 sessions'],
  ['many-sessions', 'scheduler: CPU per session and second, 20 sessions'],
  ['many-sessions', 'bare ws echo: due → with a node, p50, 20 sessions'],
  ['endurance', 'scheduler: garbage collection pause, p99.9'],
  ['endurance', 'scheduler: event loop stall, p99.9'],
] as const;

const DECLARED = [
  'bursts',
  'dispatch-path',
  'endurance',
  'instances',
  'many-sessions',
  'nodes',
  'redis-peers',
  'redis-peers-300ms',
];
const isDeclared = (scenario: string): boolean => DECLARED.includes(scenario);

beforeAll(ensureBuilt, 180_000);

describe('a quick run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-bench-'));
  const file = join(folder, 'figures.json');
  const page = join(folder, 'report.html');
  let ended: Ended;
  let report: Report;

  beforeAll(async () => {
    ended = await bench('--quick', '--json', file, '--html', page);
    if (ended.code === 0) report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  }, 900_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ends with 0 and reports that it was quick', () => {
    expect(ended, ended.err).toMatchObject({ code: 0 });
    expect(report).toMatchObject({ isQuick: true, rounds: 1 });
  });

  it.each(PROMISED)('measures %s: %s', (scenario, name) => {
    const found = report.figures.filter((each) => each.scenario === scenario && each.name.startsWith(name));
    expect(found).toHaveLength(1);
    expect(Number.isFinite(found[0]?.value)).toBe(true);
    // Declared scenarios have a row for each figure, and a column for each contestant.
    expect(ended.out).toContain(isDeclared(scenario) ? name.split(/: |, \d+ \w+$/)[1] : found[0]?.name);
  });

  it('prints a table of contestants with ratios for every declared scenario', () => {
    expect(report.scenarios.map(({ scenario }) => scenario.name).sort()).toEqual(DECLARED);
    for (const { scenario } of report.scenarios)
      expect(ended.out).toContain(`${scenario.name}: ${scenario.title}`);
    expect(ended.out).toMatch(/^ +unit +scheduler +BullMQ +× +reserve script alone +×$/m);
  });

  it('writes one self-contained page with a section per declared scenario', () => {
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/^<!doctype html>/);
    expect(html).not.toMatch(/<script|<link|<img|@import|url\(|https?:/);
    expect(html).not.toMatch(/NaN|undefined|Infinity/);
    for (const name of DECLARED) expect(html).toContain(`<h2 id="${name}">`);
    expect(html.match(/<svg viewBox/g)?.length).toBeGreaterThan(DECLARED.length);
  });

  it('judges nothing: no targets, no verdicts', () => {
    expect(report.figures.filter((figure) => 'target' in figure)).toEqual([]);
    expect(ended.out).not.toMatch(/\bmet\b|MISSED|target|[≥≤]/);
  });
});

describe('wrong arguments', () => {
  it.each([
    ['an unknown suite', ['--only', 'decision,weather'], 'weather'],
    ['an unknown scenario', ['--scenario', 'weather'], 'weather'],
    ['a file that is not there', ['--scenario', 'weather.toml'], 'weather.toml'],
    ['--html without a file', ['--html'], '--html'],
    ['minutes that are no number', ['--minutes', 'many'], '--minutes'],
    ['an unknown option', ['--bogus'], '--bogus'],
    ['--json without a file', ['--json'], '--json'],
    ['--json followed by an option', ['--json', '--quick'], '--json'],
    ['rounds that are no number', ['--rounds', 'many'], '--rounds'],
    ['a stray word', ['decision'], 'decision'],
  ])('%s: exit with 2, the reason and the usage, before any measurement', async (_, args, reason) => {
    const { code, out, err } = await bench(...args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err.split('\n')[0]).toContain(reason);
    expect(err).toContain('Usage: npm run bench');
    expect(err).not.toMatch(/^\s+at /m);
    expect(err).not.toContain('round 1');
  });
});

describe('the redis-server it starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-bench-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const childrenOf = (pid: number): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('ends, and its folder is removed, when the bench is interrupted', async () => {
    const child = spawn(process.execPath, [BENCH, '--only', 'redis-cost'], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    // The bench prints this when the server answers.
    await once(child.stderr, 'data');
    const servers = childrenOf(child.pid ?? 0);
    expect(servers).toHaveLength(1);
    expect(readdirSync(folder)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await exited).toEqual([null, 'SIGINT']);
    await eventually(() => !servers.some(isAlive));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is named in the error when it is missing', async () => {
    const child = execFile(process.execPath, [BENCH, '--only', 'redis-cost'], { env: { PATH: folder } });
    let output = '';
    child.stderr?.on('data', (text: string) => {
      output += text;
    });
    expect(await once(child, 'exit')).toEqual([2, null]);
    expect(output).toContain('there is no redis-server on this machine. Install it');
  });
});
