/** Cold path: sums up what tenants have used, over all instances, because they share the store. */
import type { TenantId } from '../../domain/ids.ts';
import {
  type Amounts,
  addAmounts,
  dayOf,
  type HourlyUsage,
  hourOf,
  type StageUsage,
  startOfHour,
} from '../../domain/usage.ts';
import type { UsageStore } from '../../ports/usage-store.ts';

export type UsageGroup = 'tenant' | 'stage' | 'language' | 'hour' | 'day';

export interface UsageRequest {
  /** Undefined: all tenants. */
  readonly tenantId: TenantId | undefined;
  /** Epoch ms; the hours that contain them are whole. */
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly UsageGroup[];
}

export interface UsageSum {
  readonly group: Readonly<Partial<Record<UsageGroup, string>>>;
  readonly amounts: Amounts;
}

export type UsageReading =
  | { readonly kind: 'usage'; readonly from: number; readonly to: number; readonly sums: readonly UsageSum[] }
  /** More hours of tenants than one request may read, or more rows than one reply may have. */
  | { readonly kind: 'too_much'; readonly of: 'hours' | 'rows'; readonly most: number };

export type ReadUsage = (request: UsageRequest) => Promise<UsageReading>;

/** Each is one read of the store. */
const MOST_HOURS = 50_000;

export function createReadUsage(deps: {
  readonly store: Pick<UsageStore, 'read' | 'tenants'>;
  /** Writes what this instance has counted, so that a reader finds its own results. */
  readonly flush: () => Promise<void>;
  readonly mostRows: number;
}): ReadUsage {
  const { store, mostRows } = deps;
  return async ({ tenantId, from, to, groupBy }) => {
    const range = { from: hourOf(from), to: hourOf(to - 1) + 1 };
    await deps.flush();
    const tenants = tenantId === undefined ? await store.tenants(range.from) : [tenantId];
    if (tenants.length * (range.to - range.from) > MOST_HOURS)
      return { kind: 'too_much', of: 'hours', most: MOST_HOURS };
    const sums = new Map<string, UsageSum>();
    for (const tenant of tenants)
      for (const hour of await store.read(tenant, range)) {
        addHour(sums, tenant, hour, groupBy);
        if (sums.size > mostRows) return { kind: 'too_much', of: 'rows', most: mostRows };
      }
    const rows = [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
    return { kind: 'usage', from: startOfHour(range.from), to: startOfHour(range.to), sums: rows };
  };
}

function addHour(
  sums: Map<string, UsageSum>,
  tenant: TenantId,
  { hour, stages }: HourlyUsage,
  groupBy: readonly UsageGroup[],
): void {
  for (const row of stages) {
    const group = groupOf(row, tenant, hour, groupBy);
    const name = groupBy.map((by) => group[by]).join('\n');
    const sum = sums.get(name) ?? { group, amounts: {} };
    addAmounts(sum.amounts, row.amounts);
    sums.set(name, sum);
  }
}

function groupOf(
  { stage, language }: StageUsage,
  tenant: TenantId,
  hour: number,
  groupBy: readonly UsageGroup[],
): UsageSum['group'] {
  const at = startOfHour(hour);
  const values = { tenant, stage, language, hour: () => new Date(at).toISOString(), day: () => dayOf(at) };
  return Object.fromEntries(
    groupBy.map((by) => {
      const value = values[by];
      return [by, typeof value === 'string' ? value : value()];
    }),
  );
}
