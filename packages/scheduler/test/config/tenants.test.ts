/** The configuration of tenants and its effect. */
import { describe, expect, it } from 'vitest';
import { configuredQuotas } from '../../src/app/settings/quotas.ts';
import { configuredTenancy } from '../../src/app/settings/tenancy.ts';
import { configOf, problemsOf } from './loaded.ts';

const row = (...lines: string[]): string => ['[[scheduler.tenants]]', ...lines, ''].join('\n');

describe('rows of scheduler.tenants', () => {
  it('need a tenant, and each tenant one row', () => {
    expect(problemsOf(row('weight = 2'))[0]).toContain('scheduler.tenants[0].tenant_id is missing');
    const twice = row('tenant_id = "a"') + row('tenant_id = "b"') + row('tenant_id = "a"', 'weight = 2');
    expect(problemsOf(twice)).toHaveLength(1);
    expect(problemsOf(twice)[0]).toContain(
      'scheduler.tenants[2].tenant_id is a, like scheduler.tenants[0]; write one row per tenant',
    );
  });

  it.each([
    ['weight = 0', 'weight'],
    ['weight = 101', 'weight'],
    ['priority = "urgent"', 'priority'],
    ['max_inflight_jobs = -1', 'max_inflight_jobs'],
    ['requests_per_second = 0', 'requests_per_second'],
    ['max_wating = 1', 'max_wating is unknown; did you mean max_waiting'],
  ])('are refused with %s', (line, named) => {
    const [problem] = problemsOf(row('tenant_id = "a"', line));
    expect(problem).toContain(`scheduler.tenants[0].${named}`);
  });

  it('use the common limits where they set none', () => {
    const config = configOf(
      [
        '[server.limits]\nrequests_per_second_per_tenant = 7',
        '[scheduler.queue]\nmax_waiting_per_tenant = 8',
        '[scheduler.tenant_limits]\nmax_sessions = 9',
        row('tenant_id = "a"', 'weight = 4', 'priority = "low"', 'max_waiting = 3'),
        row('tenant_id = "b"', 'weight = 0.5', 'max_inflight_jobs = 10', 'requests_per_second = 11'),
      ].join('\n'),
    );
    const tenancy = configuredTenancy(config, () => 2);
    const none = Number.POSITIVE_INFINITY;
    const all = {
      quantum: 0.25,
      priority: 'normal',
      maxSessions: 9,
      maxInflightJobs: none,
      maxWaiting: 8,
      requestsPerSecond: 7,
    };
    expect(tenancy.of('anybody')).toEqual(all);
    expect(tenancy.of('a')).toEqual({ ...all, quantum: 1, priority: 'low', maxWaiting: 3 });
    expect(tenancy.of('b')).toEqual({ ...all, quantum: 0.125, maxInflightJobs: 10, requestsPerSecond: 11 });
    expect(tenancy).toMatchObject({ capsJobs: true, capsSessions: true });
    expect([tenancy.share(9), tenancy.share(none)]).toEqual([5, none]);
  });

  it('without limits turn counting by tenant off', () => {
    const config = configOf(row('tenant_id = "a"', 'weight = 3'));
    expect(configuredTenancy(config, () => 1)).toMatchObject({ capsJobs: false, capsSessions: false });
  });
});

describe('the part of one tenant', () => {
  const shareOf = (toml: string): number => configuredTenancy(configOf(toml), () => 1).maxShare;
  const token = (tenantId: string): string =>
    `[[server.tokens]]\ntoken = "a-long-token-of-${tenantId}"\nrole = "client"\ntenant_id = "${tenantId}"\n`;

  it('is all of a limit if at most one tenant is named', () => {
    expect(shareOf('')).toBe(1);
    expect(shareOf(token('acme') + row('tenant_id = "acme"'))).toBe(1);
  });

  it('is half of a limit if several tenants are named', () => {
    expect(shareOf(token('acme') + token('globex'))).toBe(0.5);
    expect(shareOf(token('acme') + row('tenant_id = "globex"'))).toBe(0.5);
  });

  it('is what the configuration says', () => {
    expect(shareOf(`[scheduler.tenant_limits]\nmax_share_percent = 20\n${token('acme')}`)).toBe(0.2);
  });

  it('limits a tenant on each instance, whatever its own limits allow', () => {
    const toml = '[scheduler.tenant_limits]\nmax_share_percent = 20\nmax_sessions = 100\n';
    const tenancy = configuredTenancy(configOf(toml), () => 2);
    const { maxSessions } = tenancy.of('acme');
    expect([tenancy.share(maxSessions), tenancy.share(maxSessions, 200)]).toEqual([50, 40]);
    expect(tenancy.capsSessions).toBe(true);
  });
});

describe('rows of scheduler.quotas', () => {
  const quota = (...lines: string[]): string => ['[[scheduler.quotas]]', ...lines, ''].join('\n');

  it('name a limit, and once per tenant, period and unit', () => {
    expect(problemsOf(quota('unit = "jobs"'))[0]).toContain('scheduler.quotas[0].hard is missing');
    expect(problemsOf(quota('soft = 2', 'hard = 1'))[0]).toContain('is 2, above hard = 1');
    const twice = quota('hard = 1') + quota('tenant_id = "a"', 'hard = 1') + quota('hard = 2');
    expect(problemsOf(twice)[0]).toContain(
      'scheduler.quotas[2].unit limits the audio_seconds of a month of the same tenant as scheduler.quotas[0]',
    );
  });

  it('without a tenant are for all that have no row of the same kind', () => {
    const toml =
      quota('hard = 9') + quota('unit = "jobs"', 'hard = 8') + quota('tenant_id = "a"', 'hard = 1');
    const of = configuredQuotas(configOf(toml));
    const hards = (tenantId: string) => of?.(tenantId).map(({ unit, hard }) => [unit, hard]);
    expect(hards('a')).toEqual([
      ['audio_seconds', 1],
      ['jobs', 8],
    ]);
    expect(hards('b')).toEqual([
      ['audio_seconds', 9],
      ['jobs', 8],
    ]);
    expect(configuredQuotas(configOf(''))).toBeUndefined();
  });
});
