/** Settings of tenants: their limits, and how they share scarce slots. */
import { DEGRADATIONS } from '../../domain/job-spec.ts';
import { QUOTA_PERIODS, QUOTA_UNITS } from '../../domain/quota.ts';
import { list, optional, required, tables } from '../compound-setting.ts';
import { choice, group, integer, number, text } from '../setting.ts';
import { regionList } from './regions.ts';

const MOST = 10_000_000;

const maxSessions = (doc: string) => optional(integer({ default: 0, min: 0, max: MOST, doc }));
const maxInflightJobs = (doc: string) => optional(integer({ default: 0, min: 0, max: MOST, doc }));

export const tenantLimits = group(
  'Caps of one tenant, by default over all instances: each instance grants limit ÷ living instances, rounded up, so that load that is spread unevenly meets the cap early. How many jobs may wait is queue.max_waiting_per_tenant, how many requests server.limits.requests_per_second_per_tenant.',
  {
    max_sessions: maxSessions(
      'Sessions, those that may still be resumed included. At it the one of the tenant that has been away longest makes room; if all are connected, a new one is refused with RATE_LIMITED. Unset: no cap but session.max_sessions.',
    ),
    max_inflight_jobs: maxInflightJobs(
      'Jobs that have a node or are on their way to one. At it a job waits like for a slot, as long as it may (wait_ms, pending_timeout_ms), or is refused with RATE_LIMITED. Unset: no cap but max_inflight_jobs.',
    ),
    max_share_percent: optional(
      number({
        default: 50,
        min: 1,
        max: 100,
        unit: 'percent',
        doc: 'The most that one tenant may use of what tenants share on one instance: see [limits](limits.md). Unset: 50 if tokens or tenants name more than one tenant, otherwise 100.',
      }),
    ),
  },
);

export const tenants = tables({
  doc: 'Tenants with their own limits. A missing value in a row is the common one.',
  example: ['tenant_id = "acme"', 'weight = 3', 'priority = "high"', 'max_inflight_jobs = 200'],
  columns: {
    tenant_id: required(
      text({
        default: '',
        pattern: /^[A-Za-z0-9._:-]{1,128}$/,
        allowed: '1 to 128 letters, digits, or . _ : -',
        doc: 'The tenant.',
      }),
    ),
    weight: number({
      default: 1,
      min: 0.1,
      max: 100,
      doc: 'Its share of freed slots among the tenants whose jobs wait in the same class: 3 gets three for every one of a tenant with 1.',
    }),
    priority: choice({
      choices: ['high', 'normal', 'low'],
      default: 'normal',
      doc: 'Class of its jobs that wait: high before normal before low, and retries of accepted jobs before all. Also the most that options.priority of a dispatch may ask for; who asks for more gets this.',
    }),
    residency: regionList(
      'The only regions whose nodes get its jobs; a node that names no region gets none of them. Empty: every region. See [regions](placement.md#regions).',
    ),
    degrade: list({
      of: choice({ choices: DEGRADATIONS, default: 'voice', doc: '' }),
      default: [],
      doc: 'What its jobs do without before they are refused in an overload: voice (the text alone), and with it partials (no interim texts). The result says so. Empty: nothing.',
    }),
    glossary_id: optional(
      text({
        default: '',
        pattern: /^[A-Za-z0-9._:-]{1,128}$/,
        allowed: '1 to 128 letters, digits, or . _ : -',
        doc: 'Its glossary for requests that name none: see [glossaries](glossaries.md).',
      }),
    ),
    max_sessions: maxSessions('As in tenant_limits.'),
    max_inflight_jobs: maxInflightJobs('As in tenant_limits.'),
    max_waiting: optional(
      integer({ default: 0, min: 0, max: MOST, doc: 'Overrides queue.max_waiting_per_tenant.' }),
    ),
    requests_per_second: optional(
      integer({
        default: 1,
        min: 1,
        max: 1_000_000,
        unit: 'per second',
        doc: 'Overrides server.limits.requests_per_second_per_tenant.',
      }),
    ),
  },
});

export const usage = group('What tenants use, per stage and language: see [usage](usage.md).', {
  usage_retention_days: integer({
    default: 90,
    min: 1,
    max: 400,
    doc: 'Days for which the counts of each hour are kept in Redis. In memory they end with the process.',
  }),
});

const amount = (doc: string) => optional(integer({ default: 0, min: 0, max: Number.MAX_SAFE_INTEGER, doc }));

export const quotas = tables({
  doc: 'What tenants may use in a day or a month (UTC), over all instances: see [usage](usage.md#quotas). What is in progress when a quota is reached goes on.',
  example: [
    'tenant_id = "acme"',
    'period = "month"',
    'unit = "audio_seconds"',
    'soft = 320000',
    'hard = 360000',
  ],
  columns: {
    tenant_id: optional(
      text({
        default: '',
        pattern: /^[A-Za-z0-9._:-]{1,128}$/,
        allowed: '1 to 128 letters, digits, or . _ : -',
        doc: 'The tenant. Unset: every tenant without a row of its own for this period and unit.',
      }),
    ),
    period: choice({ choices: QUOTA_PERIODS, default: 'month', doc: 'Day or month.' }),
    unit: choice({
      choices: QUOTA_UNITS,
      default: 'audio_seconds',
      doc: 'What is counted: jobs with an accepted result, seconds of recognised audio, translated characters, or seconds of synthesised voice.',
    }),
    soft: amount('From here on answers carry the quota and its use.'),
    hard: amount('From here on new work is refused with QUOTA_EXCEEDED and the time until the period ends.'),
  },
});
