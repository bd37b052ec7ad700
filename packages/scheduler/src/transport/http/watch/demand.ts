/** Cold path: supply and demand of all instances, by language and by tenant, and the size that the fleet should have. */
import type {
  LanguageCell as CellView,
  LanguagesReply,
  ScalingReply,
  TenantLine,
  TenantsReply,
} from '@lingua/protocol';
import type { Gather, Gathered } from '../../../cluster/operators/gather.ts';
import { hasBit } from '../../../domain/bits.ts';
import { expectedWaitMs, slotsFor } from '../../../domain/erlang.ts';
import type { Tenancy, TenantTerms } from '../../../domain/tenancy.ts';
import { inSteps } from '../../../management/stats/count-part.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { LanguageCell, LanguageMatrix } from '../../../runtime/explain/read-language-matrix.ts';
import type { FleetView } from '../../../runtime/fleet/fleet-view.ts';
import type { Pressure } from '../../../runtime/queue/read-pressure.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { answerers } from './answerers.ts';

/** What one instance tells about its demand: a JSON value. */
type DemandPart = Pressure & { readonly sessions: readonly (readonly [tenantId: string, count: number])[] };

export interface Demand {
  languages(): Promise<LanguagesReply>;
  tenants(): Promise<TenantsReply>;
  scaling(targetWaitMs: number): Promise<ScalingReply>;
}

export function createDemand(deps: {
  readonly clock: Clock;
  readonly gather: Gather;
  readonly fleet: Pick<FleetView, 'table'>;
  readonly tenancy: Tenancy;
  readonly readPressure: () => Generator<void, Pressure>;
  readonly readMatrix: () => Generator<void, LanguageMatrix>;
  readonly sessionsByTenant: () => ReadonlyMap<string, number>;
}): Demand {
  const { clock, fleet, tenancy } = deps;

  const gatherDemand = deps.gather('demand', async (_body: object): Promise<DemandPart> => {
    const pressure = await inSteps(deps.readPressure(), clock);
    return { ...pressure, sessions: [...deps.sessionsByTenant()].slice(0, MAX_TENANTS) };
  });

  return {
    async languages() {
      const [gathered, matrix] = await Promise.all([gatherDemand({}), inSteps(deps.readMatrix(), clock)]);
      const slotMs = meanSlotMs(gathered);
      return omitUndefined({
        at_ms: clock.now(),
        mean_slot_ms: slotMs,
        cells: await inSteps(cellsOf(matrix.cells, gathered, slotMs), clock),
        ...answerers(gathered),
        truncated: matrix.isTruncated,
      });
    },

    async tenants() {
      const gathered = await gatherDemand({});
      const lines = new Map<string, TenantLine>();
      const lineOf = (tenantId: string): TenantLine => {
        const line = lines.get(tenantId) ?? emptyLine(tenantId, tenancy.of(tenantId));
        lines.set(tenantId, line);
        return line;
      };
      for (const tenantId of tenancy.named) lineOf(tenantId);
      for (const { tenants, sessions } of gathered.parts.values()) {
        for (const [tenantId, count] of sessions) lineOf(tenantId).sessions += count;
        for (const { tenantId, inFlight, waiting, refused } of tenants) {
          const line = lineOf(tenantId);
          line.in_flight += inFlight;
          line.waiting += waiting;
          for (const [code, count] of Object.entries(refused))
            line.refused[code] = (line.refused[code] ?? 0) + count;
        }
      }
      const byName = [...lines.values()].sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1));
      return { tenants: byName.slice(0, MAX_TENANTS), ...answerers(gathered) };
    },

    async scaling(targetWaitMs) {
      const gathered = await gatherDemand({});
      const slotMs = meanSlotMs(gathered);
      const { nodes, slots, used } = countSlots(fleet);
      const waiting = sumOf(gathered, ({ pairs }) => pairs.reduce((sum, pair) => sum + pair.waiting, 0));
      const use = slotMs === undefined ? undefined : { slots, used, waiting, holdMs: slotMs };
      const wanted = use && slotsFor(use, targetWaitMs);
      return omitUndefined({
        target_wait_ms: targetWaitMs,
        nodes,
        slots,
        used,
        waiting,
        mean_slot_ms: slotMs,
        expected_wait_ms: use && expectedWaitMs(use),
        wanted_slots: wanted,
        wanted_nodes: wanted === undefined || nodes === 0 ? undefined : Math.ceil((wanted * nodes) / slots),
        ...answerers(gathered),
      });
    },
  };
}

const MAX_TENANTS = 10_000;
const CELLS_PER_SLICE = 50;

/** Cells of the matrix, and directions with demand that no node can do. */
function* cellsOf(
  supply: readonly LanguageCell[],
  gathered: Gathered<DemandPart>,
  slotMs: number | undefined,
): Generator<void, CellView[]> {
  const cells = new Map<string, CellView>();
  const keyOf = (source: string, target: string): string => `${source} ${target}`;
  const none = { nodes: 0, ready: 0, slots: 0, free: 0 };
  const open = (src: string, tgt: string, has = none): CellView => {
    const cell: CellView = { src, tgt, ...has, in_flight: 0, waiting: 0, refused: 0 };
    cells.set(keyOf(src, tgt), cell);
    return cell;
  };
  for (const { source, target, ...has } of supply) open(source, target, has);
  for (const { pairs } of gathered.parts.values()) {
    for (const { source, target, inFlight, waiting, refused } of pairs) {
      const cell = cells.get(keyOf(source, target)) ?? open(source, target);
      cell.in_flight += inFlight;
      cell.waiting += waiting;
      cell.refused += refused;
    }
  }
  let done = 0;
  for (const cell of cells.values()) {
    if (++done % CELLS_PER_SLICE === 0) yield;
    if (slotMs !== undefined) estimate(cell, slotMs);
  }
  return [...cells.values()];
}

/** All jobs on the nodes of a cell count as its load: nodes are shared by many directions. */
function estimate(cell: CellView, holdMs: number): void {
  const { slots, free, waiting, ready } = cell;
  const use = { used: slots - free, waiting, holdMs };
  const now = expectedWaitMs({ ...use, slots });
  if (now === undefined) return;
  cell.expected_wait_ms = Math.round(now);
  const more = Math.max(1, Math.round(slots / Math.max(1, ready)));
  const then = expectedWaitMs({ ...use, slots: slots + more }) ?? 0;
  cell.one_more_node = { slots: more, expected_wait_ms: Math.round(then) };
}

/** Ten thousand nodes take a tenth of a millisecond. */
function countSlots({ table: { columns } }: Pick<FleetView, 'table'>) {
  let [nodes, slots, used] = [0, 0, 0];
  for (const [index, nodeId] of columns.ids.entries()) {
    if (nodeId === undefined || !hasBit(columns.willing, index)) continue;
    nodes += 1;
    slots += columns.max[index] as number;
    used += Math.min(columns.used[index] as number, columns.max[index] as number);
  }
  return { nodes, slots, used };
}

/** Instances without an ended job know nothing. */
function meanSlotMs({ parts }: Gathered<DemandPart>): number | undefined {
  const known = [...parts.values()].flatMap(({ slotMs }) => slotMs ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length;
}

const sumOf = ({ parts }: Gathered<DemandPart>, numberOf: (part: DemandPart) => number): number =>
  [...parts.values()].reduce((sum, part) => sum + numberOf(part), 0);

function emptyLine(tenantId: string, terms: TenantTerms): TenantLine {
  const caps = {
    max_sessions: terms.maxSessions,
    max_inflight_jobs: terms.maxInflightJobs,
    max_waiting: terms.maxWaiting,
    requests_per_second: terms.requestsPerSecond,
  };
  return {
    tenant_id: tenantId,
    sessions: 0,
    in_flight: 0,
    waiting: 0,
    refused: {},
    caps: Object.fromEntries(Object.entries(caps).filter(([, limit]) => Number.isFinite(limit))),
    priority: terms.priority,
    share: terms.quantum,
  };
}
