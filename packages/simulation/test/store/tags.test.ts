/** What lies together in Redis lies together on the simulated shards. */
import { expect, it } from 'vitest';
import { jobTag, requestTag } from '../../../scheduler/dist/adapters/shared-jobs/job-scripts.js';
import { createMachine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import { createSeededIds } from '../../../scheduler/dist/plan/kernel/seeded-ids.js';
import { createVirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { shardOf, tags } from '../../src/store/servers/tags.ts';

const ids = createSeededIds({
  chance: seededChance('tags'),
  clock: createMachine({ time: createVirtualTime(), name: 'any' }).clock,
  maker: 'i-1',
  digestsRequests: true,
});

it('tags a job by its request, or else by its id', () => {
  for (let at = 0; at < 50; at += 1) {
    expect(jobTag(ids.jobId('t', `r-${at}`))).toBe(requestTag(ids.digest, 't', `r-${at}`));
    for (const jobId of [ids.jobId('t', undefined), `job-${at}`, 'job-']) expect(jobTag(jobId)).toBe(jobId);
  }
});

it('distributes jobs and nodes over all shards', () => {
  for (const tagOf of [tags.job, tags.node, tags.session]) {
    const counts = [0, 0, 0];
    for (let at = 0; at < 3_000; at += 1) {
      const shard = shardOf(tagOf(`id-${at}`), 3);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    for (const count of counts) expect(count).toBeGreaterThan(800);
  }
});
