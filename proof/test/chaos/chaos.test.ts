/** The chaos run of a single instance, as users run it; the slow test runs three instances on a Redis Cluster. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { nameOf, ofKind } from '../../../packages/simulation/dist/history.js';
import { readHistory } from '../../src/chaos/history-file.ts';
import { chaos, complaintsOf, summaryOf } from './run-chaos.ts';

beforeAll(ensureBuilt, 150_000);

const SECONDS_ALONE = 8;
const LEAST_SHARE = 0.8;

describe('under real faults', () => {
  it('a single instance without Redis keeps every invariant', { timeout: 120_000 }, async () => {
    const kept = join(mkdtempSync(join(tmpdir(), 'lingua-chaos-test-')), 'history.jsonl');
    onTestFinished(() => rmSync(dirname(kept), { recursive: true, force: true }));
    const summary = await summaryOf('--alone', '--seconds', String(SECONDS_ALONE), '--keep-history', kept);
    expect(complaintsOf(summary)).toBe('');
    expect(summary.work.results).toBeGreaterThan(0);
    expect(summary.counted['errors in logs']).toBe(0);
    const judged = summary.promises.filter(({ judged }) => judged > 0).map(({ promise }) => promise);
    expect(judged).toEqual(expect.arrayContaining(['I1 no oversell', 'I3 one outcome', 'nothing lost']));
    expect(judged).toEqual(expect.arrayContaining(['I10 isolation', 'I11 bounded']));
    expect(Object.entries(summary.looks).filter(([, times]) => times === 0)).toEqual([]);
    // Whether a node acknowledged a job decides how long its slot is kept.
    const history = readHistory(kept);
    const isOfSdk = ({ node }: { node: string }): boolean => node.startsWith('node-sdk');
    // A repeated assignment is acknowledged again, and not started again.
    const attemptsThat = (kind: 'started' | 'acknowledged'): number =>
      new Set(ofKind(history, kind).filter(isOfSdk).map(nameOf)).size;
    const [started, acknowledged] = [attemptsThat('started'), attemptsThat('acknowledged')];
    expect(acknowledged).toBeGreaterThan(LEAST_SHARE * started);
  });

  it('reports that the machine has no Redis', async () => {
    const { code, output } = await chaos([], { ...process.env, PATH: '/nowhere' });
    expect(code).toBe(2);
    expect(output).toContain('there is no redis-server on this machine');
  });
});
