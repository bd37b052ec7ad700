/** A small world in which a fifth of the attempts may be hedged. */
import { expect, it } from 'vitest';
import { WITHOUT_STAGES } from '../../../packages/simulation/dist/world/scenario.js';
import { runSeed } from '../../src/simulate/run-seed.ts';

it('hedges break no invariant while instances and nodes fail', async () => {
  const scenario = {
    ...WITHOUT_STAGES,
    nodes: 6,
    speakers: 6,
    dispatchers: 4,
    perSecond: 20,
    badness: 0.01,
    hedgePercent: 20,
  };
  const { finding } = await runSeed({ seed: '1', jobs: 250, scenario });
  expect(finding.violations).toEqual([]);
  expect(finding.counts.hedges).toBeGreaterThan(3);
});
