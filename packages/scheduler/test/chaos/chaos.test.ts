/**
 * Three instances on a real Redis Cluster, nodes and sessions on all of them, and everything that can die dies or freezes while
 * work flows. An independent checker looks at what nodes and clients saw. CHAOS_SEED and CHAOS_SECONDS make other and longer runs,
 * CHAOS_WITHOUT (kinds of faults, with commas) quieter ones.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { checkHistory } from '../../../../proof/src/checker/check-history.ts';
import { printHappening, printSummary, printViolations } from '../../../../proof/src/checker/print.ts';
import { createRecorder, type RealFaultKind } from '../../src/simulation/history.ts';
import { ensureBuilt } from '../e2e/support/ensure-built.ts';
import { startRedisStore } from './rig/redis-store.ts';
import { runChaos } from './rig/run-chaos.ts';

beforeAll(ensureBuilt, 150_000);

const SEED = Number(process.env.CHAOS_SEED ?? 20_261_118);
const SECONDS = Number(process.env.CHAOS_SECONDS ?? 42);
const WITHOUT = (process.env.CHAOS_WITHOUT ?? '').split(',') as RealFaultKind[];
const LEAST_SHARE = 0.8;
/** For the start, the last outcomes, and what ends by itself in Redis. */
const MARGIN_MS = 120_000;

describe('three instances on a Redis Cluster', () => {
  it('keep I1–I9 while instances, masters, nodes and connections die', {
    timeout: SECONDS * 2_000 + MARGIN_MS,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lingua-chaos-'));
    const recorder = createRecorder();
    const where = `seed ${SEED}, ${SECONDS} s; history and logs are in ${folder}`;
    const store = await startRedisStore();
    let isKept = true;
    onTestFinished(async () => {
      await store.stop();
      if (isKept)
        await writeFile(join(folder, 'history.log'), recorder.history.map(printHappening).join('\n'));
      else await rm(folder, { recursive: true, force: true });
    });
    const evidence = await runChaos({
      seed: SEED,
      seconds: SECONDS,
      instances: 3,
      store,
      folder,
      recorder,
      without: WITHOUT,
    });
    const finding = checkHistory(evidence);
    console.log(`${where}\n\n${printSummary(evidence.history, finding)}`);
    expect(printViolations(evidence.history, finding.violations), where).toBe('no violations');
    const { results = 0, requests = 0 } = finding.counts;
    // Failing is allowed, but not as a way of life.
    expect(results).toBeGreaterThan(Math.max(SECONDS * 5, requests * LEAST_SHARE));
    isKept = false;
  });
});
