/** Typed wrapper of add-usage.lua: one call per hour, by the thousand jobs at most. */
import type { TenantId } from '../../../domain/ids.ts';
import { type CountedJob, dayOf, hourOf, monthOf, startOfHour } from '../../../domain/usage.ts';
import { MOST_COUNTS, REPEAT_MS } from '../../../ports/usage-store.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

const DAY_MS = 86_400_000;
/** The longest month, and as long as a quota may still ask for the one before. */
const SUMS_MS = 62 * DAY_MS;
/** A script must not block its server for long. */
const MOST_AT_ONCE = 256;

export function createAddUsage(connection: RedisConnection, keys: Keys, retentionDays: number) {
  const run = loadScript(connection, import.meta.url, 'add-usage');

  async function addHour(tenantId: TenantId, hour: number, jobs: readonly CountedJob[]): Promise<void> {
    const at = startOfHour(hour);
    const named = [
      keys.usageHour(tenantId, hour),
      keys.usageDay(tenantId, dayOf(at)),
      keys.usageMonth(tenantId, monthOf(at)),
      keys.usageCounted(tenantId),
    ];
    // The hour is in the past by up to an hour; a day more keeps it for all of the retention.
    const kept = (retentionDays + 1) * DAY_MS;
    await run(named, [kept, SUMS_MS, REPEAT_MS, MOST_COUNTS, ...jobs.flatMap(argumentsOf)]);
  }

  return async (tenantId: TenantId, jobs: readonly CountedJob[]): Promise<void> => {
    const hours = new Map<number, CountedJob[]>();
    for (const job of jobs) {
      const hour = hourOf(job.usage.at);
      const some = hours.get(hour);
      if (some === undefined) hours.set(hour, [job]);
      else some.push(job);
    }
    for (const [hour, all] of hours)
      for (let from = 0; from < all.length; from += MOST_AT_ONCE)
        await addHour(tenantId, hour, all.slice(from, from + MOST_AT_ONCE));
  };
}

function argumentsOf({ jobId, usage }: CountedJob): (string | number)[] {
  const counts = usage.stages.flatMap(({ stage, language, amounts }) =>
    Object.entries(amounts).flatMap(([unit, amount]) => [stage, language, unit, amount]),
  );
  return [jobId, counts.length / 4, ...counts];
}
