/** Composition root: the pools in force, and how others from the configuration take their place while jobs go on. */
import type { LoadResult } from '../config/load-config.ts';
import { printFinding } from '../config/origin.ts';
import type { Config } from '../config/settings.ts';
import { UNPOOLED } from '../domain/pool.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import { createPoolMap, type PoolMap } from '../runtime/pools/pool-map.ts';
import { createPreferPool } from '../runtime/pools/prefer-pool.ts';
import type { Pools } from '../session/speech/preferred-pool.ts';
import { poolDigest, poolPlanOf } from './settings/pool-plan.ts';

/** How long a change of pools goes on without a pause: well below 5 ms (I6). A node costs the more the more pools there are. */
const SLICE_MS = 2;
/** Nodes between two looks at the clock. */
const FEW = 8;

export type Reload =
  | {
      readonly kind: 'reloaded';
      /** False: the pools are what they were. */
      readonly hasChanged: boolean;
      readonly poolCount: number;
      /** Other settings that differ: they wait for a restart. */
      readonly needRestart: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  /** Nobody knows where the configuration came from. */
  | { readonly kind: 'unavailable' };

export function createPoolsOfApp(deps: {
  readonly config: Config;
  readonly fleet: FleetView;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** Reads the configuration again from where it came from; absent: it came from nowhere. */
  readonly reread: (() => Promise<LoadResult>) | undefined;
}) {
  const { fleet, clock, meter, log } = deps;
  let { config } = deps;
  let reloading: Promise<unknown> = Promise.resolve();
  const digests = new WeakMap<PoolMap, string>();
  divide(config)(Number.POSITIVE_INFINITY);

  function divide(by: Config): (maxNodes: number) => boolean {
    const plan = poolPlanOf(by);
    const poolMap = plan && createPoolMap(plan);
    if (poolMap !== undefined) digests.set(poolMap, poolDigest(poolMap.plan));
    return fleet.changePools(poolMap);
  }

  async function divideAnew(by: Config): Promise<void> {
    const step = divide(by);
    await inSlices(() => step(FEW));
    // Jobs that wait may go to nodes now that were free all the time, and of which nobody would hear otherwise.
    let at: number | undefined = 0;
    await inSlices(() => {
      at = fleet.reportFree(at ?? 0, FEW);
      return at === undefined;
    });
  }

  async function inSlices(step: () => boolean): Promise<void> {
    for (let since = clock.precise(); !step(); ) {
      if (clock.precise() - since < SLICE_MS) continue;
      await new Promise<void>((resolve) => clock.after(0, resolve));
      since = clock.precise();
    }
  }

  const poolCount = (): number => {
    const { pools } = fleet;
    if (pools === undefined) return 0;
    return pools.plan.pools.length > 0 ? pools.plan.pools.length : pools.plan.bucketCount;
  };

  async function reload(): Promise<Reload> {
    if (deps.reread === undefined) return { kind: 'unavailable' };
    const read = await deps.reread();
    if (read.kind === 'invalid') {
      const problems = read.problems.map(printFinding);
      log.error({ problems }, 'the configuration cannot be used: the pools stay as they are');
      meter.count('scheduler_phase3_reloads_total', { result: 'invalid' });
      return { kind: 'invalid', problems };
    }
    for (const warning of read.warnings)
      log.warn({ warning: printFinding(warning) }, 'something in the configuration is doubtful');
    const differing = differences(config, read.config);
    const needRestart = differing.filter((key) => !key.startsWith(POOLS));
    const hasChanged = needRestart.length < differing.length;
    // Nothing else of it: what needs a restart must not be half in force, and still differs the next time somebody asks.
    const next = { ...config, scheduler: { ...config.scheduler, phase3: read.config.scheduler.phase3 } };
    if (hasChanged) await divideAnew(next);
    config = next;
    meter.count('scheduler_phase3_reloads_total', { result: hasChanged ? 'changed' : 'unchanged' });
    log.info({ pools: poolCount(), changed: hasChanged, need_restart: needRestart }, 'pools read anew');
    return { kind: 'reloaded', hasChanged, poolCount: poolCount(), needRestart };
  }

  const sessionPools: Pools = {
    get edition() {
      return fleet.pools;
    },
    preferred: createPreferPool(fleet),
  };

  return {
    sessionPools,
    /** The part of the configuration that is in force now. */
    effective: () => config.scheduler.phase3,
    /** Of the pools in force; undefined: there are none. */
    digest: (): string | undefined => fleet.pools && digests.get(fleet.pools),
    /** One after the other: the last one asked for wins. */
    reload(): Promise<Reload> {
      const next = reloading.then(reload, reload);
      reloading = next;
      return next;
    },
    measure(): void {
      meter.gauge('scheduler_phase3_pools', poolCount());
      meter.gauge('scheduler_phase3_unpooled_nodes', fleet.table.pools?.roster(UNPOOLED)?.count ?? 0);
    },
  };
}

export type PoolsOfApp = ReturnType<typeof createPoolsOfApp>;

const POOLS = 'scheduler.phase3.';

/** Keys of settings whose values differ, down to the single one. */
function differences(one: unknown, other: unknown, key = ''): string[] {
  if (isTable(one) && isTable(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) =>
      differences(one[name], other[name], key === '' ? name : `${key}.${name}`),
    );
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [key];
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
