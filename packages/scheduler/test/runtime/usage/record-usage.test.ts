/** Usage is written in batches, again and again until the store has it, and each job says when it is written. */
import { expect, it } from 'vitest';
import { createUsageStore } from '../../../src/adapters/memory/usage-store.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import type { CountedJob } from '../../../src/domain/usage.ts';
import { createUsageRecorder } from '../../../src/runtime/usage/record-usage.ts';
import { times } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function start() {
  const clock = createManualClock();
  const stored = createUsageStore({ clock, retentionDays: 1, maxTenants: 10 });
  const state = { isAway: false, calls: [] as number[] };
  const dropped: string[] = [];
  const usage = createUsageRecorder({
    clock,
    log: createLog('silent'),
    meter: { count: (name: string) => void dropped.push(name), gauge: () => {}, observe: () => {} },
    store: {
      async add(tenantId, jobs) {
        if (state.isAway) throw new Error('away');
        state.calls.push(jobs.length);
        await stored.add(tenantId, jobs);
      },
    },
  });
  const job = (jobId: string): CountedJob => ({
    jobId,
    usage: { at: clock.now(), stages: [{ stage: 'asr', language: 'zh', amounts: { results: 1 } }] },
  });
  const jobsOf = async (tenantId: string) => (await stored.totals(tenantId, clock.now())).day.jobs;
  return { clock, state, usage, job, jobsOf, dropped };
}

it('writes all jobs of a tenant of one second with one call', async () => {
  const { clock, state, usage, job, jobsOf } = start();
  for (const each of times(100, (index) => job(`j${index}`))) usage.count('t', each);
  usage.count('u', job('j'));
  await clock.advance(1_000);
  expect(state.calls).toEqual([100, 1]);
  expect([await jobsOf('t'), await jobsOf('u'), usage.waiting()]).toEqual([100, 1, 0]);
});

it('does not wait for the second when many jobs wait', async () => {
  const { clock, state, usage, job } = start();
  for (const each of times(300, (index) => job(`j${index}`))) usage.count('t', each);
  await clock.advance(0);
  expect(state.calls).toEqual([256]);
  await clock.advance(1_000);
  expect(state.calls).toEqual([256, 44]);
});

it('says that a job is written only when the store has it, and tries until then', async () => {
  const { clock, state, usage, job, jobsOf } = start();
  const written: string[] = [];
  state.isAway = true;
  usage.count('t', job('one'), () => written.push('one'));
  await clock.advance(5_000);
  usage.count('t', job('two'), () => written.push('two'));
  usage.count('t', job('one'), () => written.push('one again'));
  expect([written, usage.unwritten('t').length]).toEqual([[], 2]);
  state.isAway = false;
  await clock.advance(1_000);
  expect(written).toEqual(['one', 'one again', 'two']);
  expect([await jobsOf('t'), usage.waiting(), usage.unwritten('t')]).toEqual([2, 0, []]);
});

it('writes what waits at shutdown', async () => {
  const { usage, job, jobsOf } = start();
  usage.count('t', job('j'));
  await usage.flush();
  expect(await jobsOf('t')).toBe(1);
});

it('drops what exceeds its limit, and counts that (I11)', async () => {
  const { state, usage, job, dropped } = start();
  state.isAway = true;
  const written: string[] = [];
  for (let index = 0; index < 20_003; index += 1)
    usage.count('t', job(`j${index}`), () => written.push(`j${index}`));
  expect(usage.waiting()).toBe(20_000);
  expect(dropped).toHaveLength(3);
  state.isAway = false;
  await usage.flush();
  // A dropped job stays in the index of its driver.
  expect(written).toHaveLength(20_000);
});
