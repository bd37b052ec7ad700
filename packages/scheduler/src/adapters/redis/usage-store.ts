/** What tenants have used, in Redis: all keys of a tenant are in one hash slot, so that one script counts a job everywhere at once. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { TenantId } from '../../domain/ids.ts';
import { STAGES, type Stage } from '../../domain/stage.ts';
import {
  type Amounts,
  dayOf,
  type HourlyUsage,
  hourOf,
  monthOf,
  type StageUsage,
  USAGE_UNITS,
  type UsageTotals,
  type UsageUnit,
} from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { createAddUsage } from './usage-store/add-usage.ts';

const HOURS_PER_DAY = 24;
/** How often an instance lists a tenant that uses something: a failover may have lost the list. */
const LIST_AGAIN_MS = 60_000;
const READS_AT_ONCE = 256;

export interface UsageStoreLimits {
  readonly retentionDays: number;
  readonly maxTenants: number;
}

export function createUsageStore(
  deps: { connection: RedisConnection; keys: Keys; clock: Clock } & UsageStoreLimits,
): UsageStore {
  const { connection, keys, clock, retentionDays } = deps;
  const write = createAddUsage(connection, keys, retentionDays);
  const listed = createBoundedMap<TenantId, true>({
    max: deps.maxTenants,
    maxAgeMs: LIST_AGAIN_MS,
    now: clock.now,
  });

  async function list(tenantId: TenantId): Promise<void> {
    if (listed.has(tenantId)) return;
    const hour = hourOf(clock.now());
    await asDependency('listing the tenants with usage', async () => {
      await connection.zadd(keys.usageTenants, hour, tenantId);
      await connection.zremrangebyscore(keys.usageTenants, '-inf', hour - retentionDays * HOURS_PER_DAY);
    });
    listed.set(tenantId, true);
  }

  const fieldsOf = (key: string): Promise<Record<string, string>> =>
    asDependency('reading usage', () => connection.hgetall(key));

  return {
    async add(tenantId, jobs) {
      // First: a count without its tenant in the list would not be found.
      await list(tenantId);
      await write(tenantId, jobs);
    },

    async totals(tenantId, at) {
      const [day, month] = await Promise.all([
        fieldsOf(keys.usageDay(tenantId, dayOf(at))),
        fieldsOf(keys.usageMonth(tenantId, monthOf(at))),
      ]);
      return { day: totalsOf(day), month: totalsOf(month) };
    },

    async read(tenantId, { from, to }) {
      const found: HourlyUsage[] = [];
      for (let first = from; first < to; first += READS_AT_ONCE) {
        const hours = Array.from({ length: Math.min(READS_AT_ONCE, to - first) }, (_, at) => first + at);
        const all = await Promise.all(hours.map((hour) => fieldsOf(keys.usageHour(tenantId, hour))));
        for (const [at, fields] of all.entries()) {
          const stages = stagesOf(fields);
          if (stages.length > 0) found.push({ hour: first + at, stages });
        }
      }
      return found;
    },

    tenants: (sinceHour) =>
      asDependency('reading the tenants with usage', () =>
        connection.zrangebyscore(keys.usageTenants, sinceHour, '+inf', 'LIMIT', 0, deps.maxTenants),
      ),
  };
}

const isStage = (text: string | undefined): text is Stage => STAGES.includes(text as Stage);
const isUnit = (text: string | undefined): text is UsageUnit => USAGE_UNITS.includes(text as UsageUnit);

function stagesOf(fields: Readonly<Record<string, string>>): readonly StageUsage[] {
  const rows = new Map<string, StageUsage>();
  for (const [field, amount] of Object.entries(fields)) {
    const [stage, language = '', unit] = field.split(' ');
    if (!isStage(stage) || !isUnit(unit)) continue;
    const name = `${stage} ${language}`;
    const row = rows.get(name) ?? { stage, language, amounts: {} };
    row.amounts[unit] = Number(amount);
    rows.set(name, row);
  }
  return [...rows.values()];
}

function totalsOf(fields: Readonly<Record<string, string>>): UsageTotals {
  const stages: Partial<Record<Stage, Amounts>> = {};
  for (const [field, amount] of Object.entries(fields)) {
    const [stage, unit] = field.split(' ');
    if (!isStage(stage) || !isUnit(unit)) continue;
    const amounts = stages[stage] ?? {};
    amounts[unit] = Number(amount);
    stages[stage] = amounts;
  }
  return { jobs: Number(fields.jobs ?? 0), stages };
}
