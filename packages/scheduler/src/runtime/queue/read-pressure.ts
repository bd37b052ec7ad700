/** Cold path: how many jobs of this instance run, wait and were refused, by language pair and by tenant. Some jobs at a time (I6). */
import type { TenantId } from '../../domain/ids.ts';
import { spokenDirections } from '../../domain/needed-directions.ts';
import type { Engine } from '../engine.ts';
import type { RecentRefusals } from './recent-refusals.ts';

export interface PairPressure {
  readonly source: string;
  readonly target: string;
  inFlight: number;
  waiting: number;
  /** In the last ten minutes. */
  refused: number;
}

export interface TenantPressure {
  readonly tenantId: TenantId;
  inFlight: number;
  waiting: number;
  /** In the last ten minutes, by error code. */
  refused: Readonly<Record<string, number>>;
}

export interface PoolPressure {
  readonly poolId: number;
  waiting: number;
  oldestWaitMs: number;
  /** For lack of a slot or a node, in the last ten minutes. */
  refused: number;
}

/** A JSON value: other instances receive it. */
export interface Pressure {
  readonly pairs: readonly PairPressure[];
  readonly tenants: readonly TenantPressure[];
  /** Waiting and refused jobs by the first pool that they try; absent: there are none, or no pools. */
  readonly pools?: readonly PoolPressure[] | undefined;
  /** How long the oldest has waited. */
  readonly oldestWaitMs: number;
  /** How long a job keeps its slot; absent: none has finished yet. */
  readonly slotMs?: number | undefined;
}

/** Jobs or lines per slice. */
const SLICE = 1_000;
/** I11: further pairs and tenants are left out; the busiest are kept. */
const MAX_KINDS = 1_000;

export function* readPressure(
  { clock, inFlightJobs, queue, slotTimes }: Pick<Engine, 'clock' | 'inFlightJobs' | 'queue' | 'slotTimes'>,
  refusals: RecentRefusals,
): Generator<void, Pressure> {
  const pairs = new Map<string, PairPressure>();
  const tenants = new Map<TenantId, TenantPressure>();
  const pairOf = (source: string, target: string): PairPressure => {
    const name = `${source} ${target}`;
    const pair = pairs.get(name) ?? { source, target, inFlight: 0, waiting: 0, refused: 0 };
    pairs.set(name, pair);
    return pair;
  };
  const tenantOf = (tenantId: TenantId): TenantPressure => {
    const tenant = tenants.get(tenantId) ?? { tenantId, inFlight: 0, waiting: 0, refused: {} };
    tenants.set(tenantId, tenant);
    return tenant;
  };
  const pools = new Map<number, PoolPressure>();
  const poolOf = (poolId: number): PoolPressure => {
    const pool = pools.get(poolId) ?? { poolId, waiting: 0, oldestWaitMs: 0, refused: 0 };
    pools.set(poolId, pool);
    return pool;
  };
  const now = clock.now();
  let oldestWaitMs = 0;
  let seen = 0;
  for (const { job } of inFlightJobs.all()) {
    if (++seen % SLICE === 0) yield;
    for (const { source, target } of spokenDirections(job.spec)) pairOf(source, target).inFlight += 1;
    tenantOf(job.tenantId).inFlight += 1;
  }
  for (const line of queue.lines()) {
    const [first] = line;
    if (first === undefined) continue;
    for (const { source, target } of first.directions) pairOf(source, target).waiting += line.length;
    tenantOf(first.tenantId).waiting += line.length;
    for (const { poolId, since } of line) {
      oldestWaitMs = Math.max(oldestWaitMs, now - since);
      if (poolId === undefined) continue;
      const pool = poolOf(poolId);
      pool.waiting += 1;
      pool.oldestWaitMs = Math.max(pool.oldestWaitMs, now - since);
    }
  }
  for (const { source, target, count } of refusals.pairs()) pairOf(source, target).refused = count;
  for (const { tenantId, codes } of refusals.tenants()) tenantOf(tenantId).refused = codes;
  for (const [poolId, count] of refusals.pools()) poolOf(poolId).refused = count;
  yield;
  return {
    pairs: busiest([...pairs.values()], ({ refused }) => refused),
    tenants: busiest([...tenants.values()], ({ refused }) =>
      Object.values(refused).reduce((sum, count) => sum + count, 0),
    ),
    ...(pools.size > 0 && { pools: [...pools.values()] }),
    oldestWaitMs,
    slotMs: slotTimes.meanMs(),
  };
}

const busiest = <Kind extends { inFlight: number; waiting: number }>(
  all: Kind[],
  refusedOf: (kind: Kind) => number,
): Kind[] => {
  const busy = (kind: Kind): number => kind.inFlight + kind.waiting + refusedOf(kind);
  return all.sort((a, b) => busy(b) - busy(a)).slice(0, MAX_KINDS);
};
