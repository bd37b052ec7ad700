/**
 * The chaos run as users run it: a single instance; then three instances on a real Redis Cluster, with nodes and sessions on all of
 * them, and every fault while work flows. It waits for real timeouts, so a machine that stands still for seconds can make it red. CHAOS_SEED and CHAOS_SECONDS make other and longer runs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { nameOf, ofKind } from '../../../packages/simulation/dist/history.js';
import { readHistory } from '../../src/chaos/history-file.ts';
import { complaintsOf, SEED, summaryOf, USUAL_SEED } from './run-chaos.ts';

beforeAll(ensureBuilt, 150_000);

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 30);
const GREAT = [
  'instance_killed',
  'instance_frozen',
  'instance_restarted',
  'master_killed',
  'slots_moved',
  'store_down',
];
/** Only a hang reaches it: the start, the last outcomes, and what expires in Redis take a fraction of it. */
const MARGIN_MS = 600_000;

const SECONDS_ALONE = 8;
const LEAST_SHARE = 0.8;

describe('under real faults', () => {
  it('a single instance without Redis keeps every invariant', { timeout: MARGIN_MS }, async () => {
    const kept = join(mkdtempSync(join(tmpdir(), 'lingua-chaos-test-')), 'history.jsonl');
    onTestFinished(() => rmSync(dirname(kept), { recursive: true, force: true }));
    const summary = await summaryOf('--alone', '--seconds', String(SECONDS_ALONE), '--keep-history', kept);
    expect(complaintsOf(summary)).toBe('');
    expect(summary.work.results).toBeGreaterThan(0);
    expect(summary.counted['errors in logs']).toBe(0);
    const judged = summary.promises.filter(({ judged }) => judged > 0).map(({ promise }) => promise);
    expect(judged).toEqual(expect.arrayContaining(['I1 no oversell', 'I3 one outcome', 'nothing lost']));
    expect(judged).toEqual(expect.arrayContaining(['I10 isolation', 'I11 bounded']));
    expect(judged).toEqual(expect.arrayContaining(['S1 done once', 'S2 wanted only']));
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

  it('three instances on a Redis Cluster keep every invariant', {
    timeout: SECONDS * 2_000 + MARGIN_MS,
  }, async () => {
    const summary = await summaryOf('--seconds', String(SECONDS));
    expect(complaintsOf(summary)).toBe('');
    const { results = 0, requests = 0 } = summary.work;
    expect(results).toBeGreaterThan(0);
    // A busy machine gets through fewer faults and less work in these seconds: the test reports what was left out, and the invariants hold.
    const kinds: readonly string[] = summary.faults.map(({ kind }) => kind);
    const missing = GREAT.filter((kind) => !kinds.includes(kind));
    console.log(
      `${results} results of ${requests} requests; faults that did not happen: ${missing.join(' ') || 'none'}`,
    );
    expect(kinds.length).toBeGreaterThan(0);
    if (SEED !== USUAL_SEED || missing.length > 0) return;
    // An invariant that was never judged was not tested.
    const unjudged = summary.promises.filter(({ judged }) => judged === 0).map(({ promise }) => promise);
    expect(unjudged.filter((promise) => /^I\d+ /.test(promise))).toEqual([]);
    expect(summary.counted['messages between instances']).toBeGreaterThan(results);
    expect(Object.entries(summary.looks).filter(([, times]) => times === 0)).toEqual([]);
  });
});
