/** What the engine guarantees for the order of utterances; ordered delivery belongs to sessions. */
import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import { isSettled } from '../../../src/domain/job.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createRig, RESULT } from '../rigs/rig.ts';

describe('I5 order', () => {
  it('utterances are numbered in request order, also after a restart', async () => {
    const clock = createManualClock();
    const before = createIdSource({ clock, digestsRequests: false });
    const first = Array.from({ length: 1_000 }, () => before.utteranceIndex());
    await clock.advance(5);
    const after = createIdSource({ clock, digestsRequests: false });
    const all = [...first, ...Array.from({ length: 1_000 }, () => after.utteranceIndex())];
    for (let i = 1; i < all.length; i++) expect(all[i]).toBeGreaterThan(all[i - 1] ?? 0);
  });

  it('every accepted utterance gets exactly one outcome', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 8);
    const jobs = [await rig.dispatch(), await rig.dispatch(), await rig.dispatch()];
    for (const { jobId } of [...jobs].reverse()) await rig.service.finish(rig.last(jobId), RESULT);
    for (const { jobId } of jobs) {
      const record = await rig.store.get(jobId);
      expect(record !== undefined && isSettled(record.state)).toBe(true);
      expect(record?.timeline.filter(({ state }) => state === 'FINISHED' || state === 'FAILED')).toHaveLength(
        1,
      );
    }
  });
});
