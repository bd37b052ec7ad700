/** The benchmark runs, prints every figure the project promises, and answers wrong arguments with its usage. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BENCH, ensureBuilt } from '../../packages/scheduler/test/e2e/support/ensure-built.ts';

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
}

const bench = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, ['--expose-gc', BENCH, ...args], (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });

/** What is promised, by scenario and the beginning of the figure's name. */
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
] as const;

beforeAll(ensureBuilt, 180_000);

describe('a quick run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-bench-'));
  const file = join(folder, 'figures.json');
  let ended: Ended;
  let report: Report;

  beforeAll(async () => {
    ended = await bench('--quick', '--json', file);
    if (ended.code === 0) report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ends with 0 and says that it was quick', () => {
    expect(ended, ended.err).toMatchObject({ code: 0 });
    expect(report).toMatchObject({ isQuick: true, rounds: 1 });
  });

  it.each(PROMISED)('measures %s: %s', (scenario, name) => {
    const found = report.figures.filter((each) => each.scenario === scenario && each.name.startsWith(name));
    expect(found).toHaveLength(1);
    expect(Number.isFinite(found[0]?.value)).toBe(true);
    expect(ended.out).toContain(found[0]?.name);
  });

  it('judges nothing: no targets, no verdicts', () => {
    expect(report.figures.filter((figure) => 'target' in figure)).toEqual([]);
    expect(ended.out).not.toMatch(/\bmet\b|MISSED|target|[≥≤]/);
  });
});

describe('wrong arguments', () => {
  it.each([
    ['an unknown scenario', ['--only', 'decision,weather'], 'weather'],
    ['an unknown option', ['--bogus'], '--bogus'],
    ['--json without a file', ['--json'], '--json'],
    ['--json followed by an option', ['--json', '--quick'], '--json'],
    ['rounds that are no number', ['--rounds', 'many'], '--rounds'],
    ['a stray word', ['decision'], 'decision'],
  ])('%s: end with 2, the reason and the usage, before anything is measured', async (_, args, reason) => {
    const { code, out, err } = await bench(...args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err.split('\n')[0]).toContain(reason);
    expect(err).toContain('Usage: npm run bench');
    expect(err).not.toMatch(/^\s+at /m);
    expect(err).not.toContain('round 1');
  });
});
