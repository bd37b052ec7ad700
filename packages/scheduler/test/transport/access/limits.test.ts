import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalTenancy, shareOf } from '../../../src/domain/tenancy.ts';
import { createConnectionCounts } from '../../../src/transport/access/connection-counts.ts';
import { createRequestBudgets, MAX_TENANTS } from '../../../src/transport/access/request-budgets.ts';
import { createTokenBucket } from '../../../src/transport/access/token-bucket.ts';
import { LIMITS } from './settings.ts';

describe('token bucket', () => {
  it('a full bucket gives its burst, then its rate', () => {
    const bucket = createTokenBucket({ perSecond: 2, burst: 3 }, 0);
    expect([0, 0, 0].map((now) => bucket.take(now))).toEqual([0, 0, 0]);
    expect(bucket.take(0)).toBe(500);
    expect(bucket.take(499)).toBeGreaterThan(0);
    expect(bucket.take(500)).toBe(0);
  });

  it('a bucket never gives more than its burst plus the refill', () => {
    fc.assert(
      fc.property(
        fc.record({ perSecond: fc.integer({ min: 1, max: 1_000 }), burst: fc.integer({ min: 1, max: 100 }) }),
        fc.array(fc.nat(1_000), { maxLength: 200 }),
        (shape, steps) => {
          const bucket = createTokenBucket(shape, 0);
          let now = 0;
          let taken = 0;
          for (const step of steps) {
            now += step;
            if (bucket.take(now) === 0) taken += 1;
          }
          expect(taken).toBeLessThanOrEqual(shape.burst + (now * shape.perSecond) / 1_000 + 1e-6);
        },
      ),
    );
  });

  it('a bucket has a token again after the announced delay', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (perSecond) => {
        const bucket = createTokenBucket({ perSecond, burst: 1 }, 0);
        bucket.take(0);
        const wait = bucket.take(0);
        expect(bucket.take(wait)).toBe(0);
      }),
    );
  });

  it('a bucket refills after the clock was set back', () => {
    const bucket = createTokenBucket({ perSecond: 1, burst: 1 }, 1_000_000);
    expect(bucket.take(1_000_000)).toBe(0);
    expect(bucket.take(0)).toBe(1_000);
    expect(bucket.take(1_000)).toBe(0);
  });
});

describe('request budgets', () => {
  it('a tenant at its limit does not affect another tenant', () => {
    const budgets = createRequestBudgets(LIMITS, 0);
    for (let count = 0; count < 3; count += 1) expect(budgets.spend('acme', 0).kind).toBe('ok');
    expect(budgets.spend('acme', 0)).toEqual({ kind: 'limited', limit: 'tenant', retryAfterMs: 334 });
    expect(budgets.spend('globex', 0).kind).toBe('ok');
  });

  it('a refusal by the global limit costs the tenant nothing', () => {
    const budgets = createRequestBudgets({ requestsPerSecond: 2, requestsPerSecondPerTenant: 2 }, 0);
    expect(budgets.spend('a', 0).kind).toBe('ok');
    expect(budgets.spend(undefined, 0).kind).toBe('ok');
    expect(budgets.spend('a', 0)).toMatchObject({ kind: 'limited', limit: 'global' });
    expect(budgets.spend('a', 500).kind).toBe('ok');
    expect(budgets.spend('a', 500)).toMatchObject({ kind: 'limited', limit: 'global' });
  });

  it('the number of remembered tenants is bounded', () => {
    const budgets = createRequestBudgets({ requestsPerSecond: 1e9, requestsPerSecondPerTenant: 1 }, 0);
    for (let count = 0; count < MAX_TENANTS + 500; count += 1) budgets.spend(`t${count}`, 0);
    expect(budgets.size()).toBe(MAX_TENANTS);
    // The 500 tenants beyond the limit share one budget, which is exhausted.
    expect(budgets.spend('newcomer', 0).kind).toBe('limited');
    // A second later all buckets are full again and can be evicted.
    expect(budgets.spend('newcomer', 1_000).kind).toBe('ok');
    expect(budgets.size()).toBe(1);
  });
});

describe('request budgets of several instances', () => {
  it('a tenant gets this instance’s share, recomputed when instances change', () => {
    let instances = 2;
    const tenancy = {
      of: (tenantId: string) => equalTenancy({ requestsPerSecond: tenantId === 'big' ? 6 : 4 }).of(tenantId),
      share: (limit: number) => shareOf(limit, instances),
      instances: () => instances,
    };
    const budgets = createRequestBudgets(
      { requestsPerSecond: 1e9, requestsPerSecondPerTenant: 4 },
      0,
      tenancy,
    );
    const granted = (tenantId: string): number => {
      for (let count = 0; ; count += 1) if (budgets.spend(tenantId, 0).kind !== 'ok') return count;
    };
    expect([granted('big'), granted('small')]).toEqual([3, 2]);
    instances = 1;
    expect([granted('big'), granted('small')]).toEqual([6, 4]);
    instances = 4;
    expect([granted('big'), granted('small')]).toEqual([2, 1]);
  });
});

describe('connection counts', () => {
  it('a refusal names the reached limit', () => {
    const counts = createConnectionCounts(LIMITS);
    counts.enter('acme', '10.0.0.1');
    counts.enter('acme', '10.0.0.1');
    expect(counts.enter('acme', '10.0.0.2')).toEqual({ kind: 'full', limit: 'tenant' });
    counts.enter(undefined, '10.0.0.1');
    expect(counts.enter(undefined, '10.0.0.1')).toEqual({ kind: 'full', limit: 'address' });
    counts.enter(undefined, '10.0.0.2');
    expect(counts.enter(undefined, '10.0.0.3')).toEqual({ kind: 'full', limit: 'global' });
  });

  it('the addresses of an IPv6 network count as one', () => {
    const counts = createConnectionCounts({ ...LIMITS, maxConnectionsPerAddress: 1 });
    expect(counts.enter(undefined, '2001:db8:0:1::1').kind).toBe('entered');
    expect(counts.enter(undefined, '2001:db8:0:1::2')).toEqual({ kind: 'full', limit: 'address' });
    expect(counts.enter(undefined, '2001:db8:0:2::1').kind).toBe('entered');
  });

  it('leaving twice frees a connection only once', () => {
    const counts = createConnectionCounts({ ...LIMITS, maxConnections: 1 });
    const first = counts.enter('acme', '10.0.0.1');
    if (first.kind !== 'entered') throw new Error('no free connection');
    first.leave();
    first.leave();
    expect(counts.enter('acme', '10.0.0.1').kind).toBe('entered');
    expect(counts.enter('acme', '10.0.0.1').kind).toBe('full');
  });
});
