/** What lies together in Redis lies together on the simulated shards. */
import { expect, it } from 'vitest';
import { jobTag, requestTag } from '../../../src/adapters/shared-jobs/job-tag.ts';
import { createMachine } from '../../../src/simulation/kernel/machine.ts';
import { seededChance } from '../../../src/simulation/kernel/seeded-chance.ts';
import { createSeededIds } from '../../../src/simulation/kernel/seeded-ids.ts';
import { createVirtualTime } from '../../../src/simulation/kernel/virtual-time.ts';
import { shardOf, tags } from '../../../src/simulation/store/tags.ts';

const ids = createSeededIds({
  chance: seededChance('tags'),
  clock: createMachine({ time: createVirtualTime(), name: 'any' }).clock,
  maker: 'i-1',
  digestsRequests: true,
});

it('names a job so that its request finds it, and any other after itself', () => {
  for (let at = 0; at < 50; at += 1) {
    expect(jobTag(ids.jobId('t', `r-${at}`))).toBe(requestTag(ids.digest, 't', `r-${at}`));
    for (const jobId of [ids.jobId('t', undefined), `job-${at}`, 'job-']) expect(jobTag(jobId)).toBe(jobId);
  }
});

it('spreads jobs and nodes over all shards', () => {
  for (const tagOf of [tags.job, tags.node, tags.session]) {
    const counts = [0, 0, 0];
    for (let at = 0; at < 3_000; at += 1) {
      const shard = shardOf(tagOf(`id-${at}`), 3);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    for (const count of counts) expect(count).toBeGreaterThan(800);
  }
});
