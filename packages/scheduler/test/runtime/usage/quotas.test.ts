/** Quotas of tenants: what reaches them, when they end, and what they refuse. */
import { describe, expect, it } from 'vitest';
import { createUsageStore } from '../../../src/adapters/memory/usage-store.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { endOfPeriod, type Quota } from '../../../src/domain/quota.ts';
import type { StageUsage } from '../../../src/domain/usage.ts';
import { dispatchWithinQuotas } from '../../../src/runtime/usage/dispatch-within-quotas.ts';
import { createQuotas } from '../../../src/runtime/usage/quotas.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const MONTHLY: Quota = { period: 'month', unit: 'audio_seconds', soft: 5, hard: 10 };
const DAILY: Quota = { period: 'day', unit: 'jobs', hard: 3 };
/** 2023-11-14T22:13:20Z. */
const START = 1_700_000_000_000;

const seconds = (audio: number): StageUsage[] => [
  { stage: 'asr', language: 'en', amounts: { results: 1, audio_ms: audio * 1_000 } },
];

function start(limits: readonly Quota[]) {
  const clock = createManualClock(START);
  const stored = createUsageStore({ clock, retentionDays: 1, maxTenants: 10 });
  const state = { reads: 0, isAway: false, number: 0 };
  const quotas = createQuotas({
    of: (tenantId) => (tenantId === 'free' ? [] : limits),
    store: {
      async totals(tenantId, at) {
        state.reads += 1;
        if (state.isAway) throw new Error('away');
        return stored.totals(tenantId, at);
      },
    },
    unwritten: () => [],
    clock,
    log: createLog('silent'),
  });
  /** Another instance has counted it. */
  const use = (tenantId: string, audio: number): void => {
    state.number += 1;
    const usage = { at: clock.now(), stages: seconds(audio) };
    void stored.add(tenantId, [{ jobId: `j${state.number}`, usage }]);
  };
  return { clock, quotas, use, state };
}

describe('a quota', () => {
  it('ends with its day or month in UTC', () => {
    expect(new Date(endOfPeriod('day', START)).toISOString()).toBe('2023-11-15T00:00:00.000Z');
    expect(new Date(endOfPeriod('month', START)).toISOString()).toBe('2023-12-01T00:00:00.000Z');
    expect(new Date(endOfPeriod('month', Date.UTC(2023, 11, 31))).toISOString()).toBe(
      '2024-01-01T00:00:00.000Z',
    );
  });

  it('is announced from its soft limit on, and refuses only from its hard one on', async () => {
    const { quotas, use, clock } = start([MONTHLY]);
    use('t', 6);
    expect(await quotas.exceeded('t')).toBeUndefined();
    expect(quotas.reached('t')).toMatchObject({ used: 6, soft: 5, hard: 10 });
    use('t', 4);
    await clock.advance(5_000);
    await quotas.exceeded('t');
    await clock.advance(0);
    expect(await quotas.exceeded('t')).toMatchObject({ used: 10, unit: 'audio_seconds' });
  });

  it('counts what this instance has counted at once, without a read of the store', async () => {
    const { quotas, state, clock } = start([DAILY]);
    expect(await quotas.exceeded('t')).toBeUndefined();
    for (let number = 0; number < 3; number += 1) quotas.counted('t', seconds(1), clock.now());
    expect(quotas.exceeded('t')).toMatchObject({ used: 3, hard: 3 });
    expect(state.reads).toBe(1);
  });

  it('starts again with the next day', async () => {
    const { quotas, use, clock } = start([DAILY]);
    for (let number = 0; number < 3; number += 1) use('t', 1);
    expect(await quotas.exceeded('t')).toMatchObject({ used: 3 });
    clock.jump(endOfPeriod('day', START) - START);
    expect(await quotas.exceeded('t')).toBeUndefined();
  });

  it('of a tenant without quotas costs no read', () => {
    const { quotas, state } = start([DAILY]);
    expect(quotas.exceeded('free')).toBeUndefined();
    expect(state.reads).toBe(0);
  });

  it('refuses nothing because the store does not answer', async () => {
    const { quotas, use, state, clock } = start([DAILY]);
    for (let number = 0; number < 3; number += 1) use('t', 1);
    state.isAway = true;
    expect(await quotas.exceeded('t')).toBeUndefined();
    state.isAway = false;
    expect(await quotas.exceeded('t')).toMatchObject({ used: 3 });
    state.isAway = true;
    await clock.advance(60_000);
    expect(await quotas.exceeded('t')).toMatchObject({ used: 3 });
  });

  it('that ends last is the one that is named', async () => {
    const { quotas, use } = start([DAILY, MONTHLY]);
    for (let number = 0; number < 3; number += 1) use('t', 5);
    expect(await quotas.exceeded('t')).toMatchObject({ period: 'month' });
  });
});

describe('a dispatch of a tenant at its hard quota', () => {
  const exceeded = { ...DAILY, used: 3, resetsAt: START + 60_000 };
  const request = { tenantId: 't', requestId: 'r-1' } as DispatchRequest;
  const done: DispatchOutcome = { kind: 'dispatched', job: {} as JobRecord, isRepeat: false };

  function dispatchAtQuota(bound: () => Promise<JobRecord | undefined>) {
    const counted: unknown[] = [];
    const dispatch = dispatchWithinQuotas({
      dispatch: () => done,
      quotas: { exceeded: () => exceeded },
      store: { bound },
      clock: createManualClock(START),
      meter: { count: (...one: unknown[]) => void counted.push(one), gauge: () => {}, observe: () => {} },
    });
    return { dispatch, counted };
  }

  it('is refused with the time until the period ends', async () => {
    const { dispatch, counted } = dispatchAtQuota(async () => undefined);
    expect(await dispatch(request)).toEqual({
      kind: 'refused',
      code: 'QUOTA_EXCEEDED',
      message:
        'tenant t has used 3 of 3 jobs of this day (scheduler.quotas); new work is accepted from 2023-11-14T22:14:20.000Z',
      retryAfterMs: 60_000,
    });
    expect(counted).toEqual([['scheduler_quota_refused_total', { unit: 'jobs', period: 'day' }]]);
  });

  it('goes on if it repeats a request that has a job, or continues accepted work', async () => {
    const { dispatch } = dispatchAtQuota(async () => ({}) as JobRecord);
    expect(await dispatch(request)).toBe(done);
    const none = dispatchAtQuota(async () => undefined);
    expect(await none.dispatch({ ...request, isDependant: true })).toBe(done);
  });

  it('is refused with the true reason if the store cannot say whether it is a repeat', async () => {
    const { dispatch } = dispatchAtQuota(() => Promise.reject(new Error('away')));
    expect(await dispatch(request)).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
  });
});
