/** The harness itself: one healthy instance without Redis, nodes and clients that fall and rise, and nothing to complain about. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { checkHistory } from '../../../../proof/src/checker/check-history.ts';
import { printSummary, printViolations } from '../../../../proof/src/checker/print.ts';
import { createRecorder } from '../../src/simulation/history.ts';
import { ensureBuilt } from '../e2e/support/ensure-built.ts';
import { runChaos } from './rig/run-chaos.ts';

beforeAll(ensureBuilt, 150_000);

const SEED = Number(process.env.CHAOS_SEED ?? 20_261_118);
const SECONDS = 8;

describe('one instance without Redis', () => {
  it('keeps every promise while nodes and connections die', { timeout: 120_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lingua-chaos-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const evidence = await runChaos({
      seed: SEED,
      seconds: SECONDS,
      instances: 1,
      folder,
      recorder: createRecorder(),
      // Its jobs die with it, and it has no Redis.
      without: [
        'instance_killed',
        'instance_frozen',
        'instance_restarted',
        'master_killed',
        'master_frozen',
        'store_down',
      ],
    });
    const finding = checkHistory(evidence);
    console.log(`seed ${SEED}\n${printSummary(evidence.history, finding)}`);
    expect(printViolations(evidence.history, finding.violations)).toBe('no violations');
    expect(finding.counts.results).toBeGreaterThan(80);
    expect(finding.counts['errors in logs']).toBe(0);
  });
});
