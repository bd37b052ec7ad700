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
import { expectedWaitMs } from '../../../domain/erlang.ts';
import type { NodeId } from '../../../domain/ids.ts';
import { type PoolPlan, poolIdsOf } from '../../../domain/pool.ts';
import type { Tenancy, TenantTerms } from '../../../domain/tenancy.ts';
import { inSteps } from '../../../management/stats/count-part.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { LanguageCell, LanguageMatrix } from '../../../runtime/explain/read-language-matrix.ts';
import type { FleetView } from '../../../runtime/fleet/fleet-view.ts';
import type { Pressure } from '../../../runtime/queue/read-pressure.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { answerers } from './answerers.ts';
import { createSizePeaks, type FleetLoad, nodesToDrain, sizeFor } from './size-fleet.ts';

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
  readonly fleet: Pick<FleetView, 'table' | 'view' | 'pools'>;
  /** Slots of a node that declares none. */
  readonly usualSlots: number;
  readonly tenancy: Tenancy;
  readonly readPressure: () => Generator<void, Pressure>;
  readonly readMatrix: () => Generator<void, LanguageMatrix>;
  readonly sessionsByTenant: () => ReadonlyMap<string, number>;
}): Demand {
  const { clock, fleet, tenancy } = deps;
  const peaks = createSizePeaks();

  function poolNames(): ReadonlyMap<number, string> | undefined {
    const plan = fleet.pools?.plan;
    return plan && new Map(poolIdsOf(plan).map((poolId) => [poolId, nameOf(plan, poolId)]));
  }

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
      const now = clock.now();
      const slotMs = meanSlotMs(gathered);
      const fleetNodes = takingNodes(fleet);
      const waiting = sumOf(gathered, ({ pairs }) => pairs.reduce((sum, pair) => sum + pair.waiting, 0));
      const size = (key: string, nodes: readonly TakingNode[], inQueue: number, refused: number) => {
        const { slots, used } = slotsOf(nodes);
        const load = { nodes: nodes.length, slots, used, waiting: inQueue, refused, slotMs };
        const wanted = sizeFor(load, targetWaitMs, deps.usualSlots);
        const held = peaks.note(`${key} ${targetWaitMs}`, wanted.nodes, now);
        const drain = nodesToDrain(nodes, nodes.length - held, MOST_TO_DRAIN);
        return { load, wanted, held, drain };
      };
      const refused = sumOf(gathered, ({ tenants }) => refusedOf(tenants, fleetNodes.length === 0));
      const whole = size('', fleetNodes, waiting, refused);
      const { slots, used } = whole.load;
      const use = slotMs === undefined ? undefined : { slots, used, waiting, holdMs: slotMs };
      return omitUndefined({
        target_wait_ms: targetWaitMs,
        nodes: fleetNodes.length,
        slots,
        used,
        waiting,
        oldest_wait_ms: maxOf(gathered, ({ oldestWaitMs }) => oldestWaitMs),
        refused,
        load: loadOf(whole.load),
        mean_slot_ms: slotMs,
        expected_wait_ms: use && expectedWaitMs(use),
        wanted_slots: whole.wanted.slots,
        wanted_nodes: whole.held,
        drain: [...whole.drain],
        pools: viewPools(
          poolNames(),
          fleetNodes,
          gathered,
          (index) => fleet.table.pools?.of(index) ?? [],
        ).map(({ poolId, name, nodes, inQueue, oldestWaitMs, refused: notTaken }) => {
          const pool = size(`${poolId}`, nodes, inQueue, notTaken);
          return omitUndefined({
            pool_id: poolId,
            pool_name: name,
            nodes: nodes.length,
            slots: pool.load.slots,
            used: pool.load.used,
            waiting: inQueue,
            oldest_wait_ms: oldestWaitMs,
            refused: notTaken,
            load: loadOf(pool.load),
            wanted_nodes: pool.held,
            drain: [...pool.drain],
          });
        }),
        ...answerers(gathered),
      });
    },
  };
}

const MAX_TENANTS = 10_000;
/** The rest is named next time. */
const MOST_TO_DRAIN = 100;
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
  for (const { source, target, isTextOnly, ...has } of supply) {
    const cell = open(source, target, has);
    if (isTextOnly) cell.text_only = true;
  }
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

interface TakingNode {
  readonly nodeId: NodeId;
  readonly index: number;
  readonly slots: number;
  readonly used: number;
  readonly zone: string | undefined;
}

/** Nodes that take jobs. Ten thousand take a millisecond. */
function takingNodes({ table: { columns }, view }: Pick<FleetView, 'table' | 'view'>): TakingNode[] {
  const nodes: TakingNode[] = [];
  for (const [index, nodeId] of columns.ids.entries()) {
    if (nodeId === undefined || !hasBit(columns.willing, index)) continue;
    const slots = columns.max[index] as number;
    const used = Math.min(columns.used[index] as number, slots);
    nodes.push({ nodeId, index, slots, used, zone: view(nodeId)?.zone });
  }
  return nodes;
}

const slotsOf = (nodes: readonly TakingNode[]) =>
  nodes.reduce((sum, { slots, used }) => ({ slots: sum.slots + slots, used: sum.used + used }), {
    slots: 0,
    used: 0,
  });

/** Absent: there is no slot. */
const loadOf = ({ slots, used, waiting }: FleetLoad): number | undefined =>
  slots === 0 ? undefined : (used + waiting) / slots;

/** More nodes help against a full fleet, and against an empty one; not against a language that no node has. */
const refusedOf = (tenants: Pressure['tenants'], isEmpty: boolean): number =>
  tenants.reduce(
    (sum, { refused }) =>
      sum + (refused.ALL_CANDIDATES_FULL_OR_FAILED ?? 0) + (isEmpty ? (refused.NO_CAPABLE_NODE ?? 0) : 0),
    0,
  );

/** Undefined names: there are no pools. */
function viewPools(
  names: ReadonlyMap<number, string> | undefined,
  nodes: readonly TakingNode[],
  gathered: Gathered<DemandPart>,
  poolsOf: (index: number) => readonly number[],
) {
  const pools = new Map<
    number,
    { nodes: TakingNode[]; inQueue: number; oldestWaitMs: number; refused: number }
  >();
  for (const poolId of names?.keys() ?? [])
    pools.set(poolId, { nodes: [], inQueue: 0, oldestWaitMs: 0, refused: 0 });
  for (const node of nodes) for (const poolId of poolsOf(node.index)) pools.get(poolId)?.nodes.push(node);
  for (const { pools: waits = [] } of gathered.parts.values())
    for (const { poolId, waiting, oldestWaitMs, refused } of waits) {
      const pool = pools.get(poolId);
      if (pool === undefined) continue;
      pool.inQueue += waiting;
      pool.oldestWaitMs = Math.max(pool.oldestWaitMs, oldestWaitMs);
      pool.refused += refused;
    }
  return [...pools].map(([poolId, pool]) => ({ poolId, name: names?.get(poolId) || undefined, ...pool }));
}

/** Instances without an ended job know nothing. */
function meanSlotMs({ parts }: Gathered<DemandPart>): number | undefined {
  const known = [...parts.values()].flatMap(({ slotMs }) => slotMs ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length;
}

const nameOf = ({ pools }: PoolPlan, id: number): string =>
  pools.find(({ poolId }) => poolId === id)?.name ?? '';

const maxOf = ({ parts }: Gathered<DemandPart>, numberOf: (part: DemandPart) => number): number =>
  Math.max(0, ...[...parts.values()].map(numberOf));

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
