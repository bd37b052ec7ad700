/** Composition root: the pools in force, and what a reload of the configuration replaces: pools and credentials, while jobs go on. */
import type { LoadResult } from '../config/load-config.ts';
import { printFinding } from '../config/origin.ts';
import type { Config } from '../config/settings.ts';
import { UNPOOLED } from '../domain/pool.ts';
import { sleep } from '../domain/with-timeout.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import { createPoolMap, type PoolMap } from '../runtime/pools/pool-map.ts';
import { createSessionPools } from '../runtime/pools/prefer-pool.ts';
import { poolDigest, poolPlanOf } from './settings/pool-plan.ts';

/** The longest slice of a change of pools: well below 5 ms (I6). The cost of a node grows with the number of pools. */
const SLICE_MS = 2;
/** Nodes between two reads of the clock. */
const FEW = 8;

export type Reload =
  | {
      readonly kind: 'reloaded';
      /** False: the pools are the same. */
      readonly hasChanged: boolean;
      readonly hasChangedCredentials: boolean;
      readonly poolCount: number;
      /** Other settings that differ: they need a restart. */
      readonly needRestart: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  /** The configuration has no source to read again. */
  | { readonly kind: 'unavailable' };

export function createConfiguredPools(deps: {
  readonly config: Config;
  readonly fleet: FleetView;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** Reads the configuration again from its source; absent: it has none. */
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

  async function changePools(by: Config): Promise<void> {
    const step = divide(by);
    await inSlices(() => step(FEW));
    // Waiting jobs may fit nodes now that were free all the time: without this they would not be tried.
    let at: number | undefined = 0;
    await inSlices(() => {
      at = fleet.reportFree(at ?? 0, FEW);
      return at === undefined;
    });
  }

  async function inSlices(step: () => boolean): Promise<void> {
    for (let since = clock.precise(); !step(); ) {
      if (clock.precise() - since < SLICE_MS) continue;
      await sleep(clock, 0);
      since = clock.precise();
    }
  }

  const poolCount = (): number => {
    const { pools } = fleet;
    if (pools === undefined) return 0;
    return pools.plan.pools.length > 0 ? pools.plan.pools.length : pools.plan.bucketCount;
  };

  async function reload(changeCredentials?: ChangeCredentials): Promise<Reload> {
    if (deps.reread === undefined) return { kind: 'unavailable' };
    const read = await deps.reread();
    if (read.kind === 'invalid') {
      const problems = read.problems.map(printFinding);
      log.error({ problems }, 'the configuration is invalid: nothing was changed');
      meter.count('scheduler_phase3_reloads_total', { result: 'invalid' });
      return { kind: 'invalid', problems };
    }
    for (const warning of read.warnings)
      log.warn({ warning: printFinding(warning) }, 'the configuration has a warning');
    const differing = differences(config, read.config);
    const isCredential = (key: string): boolean => changeCredentials !== undefined && CREDENTIALS.has(key);
    const needRestart = differing.filter((key) => !key.startsWith(POOLS) && !isCredential(key));
    const hasChanged = differing.some((key) => key.startsWith(POOLS));
    const hasChangedCredentials = differing.some(isCredential);
    // Settings that need a restart stay as they are, and are reported again at the next reload.
    const next = {
      ...config,
      scheduler: { ...config.scheduler, pools: read.config.scheduler.pools },
      ...(hasChangedCredentials && {
        server: withCredentials(config.server, read.config.server),
        webhooks: { ...config.webhooks, receivers: read.config.webhooks.receivers },
      }),
    };
    // Tokens first: a revoked one must not wait for the division of a large fleet.
    if (hasChangedCredentials) changeCredentials?.(next);
    if (hasChanged) await changePools(next);
    config = next;
    meter.count('scheduler_phase3_reloads_total', { result: hasChanged ? 'changed' : 'unchanged' });
    const fields = { pools: poolCount(), changed: hasChanged, credentials_changed: hasChangedCredentials };
    log.info({ ...fields, need_restart: needRestart }, 'reloaded the configuration');
    return { kind: 'reloaded', hasChanged, hasChangedCredentials, poolCount: poolCount(), needRestart };
  }

  return {
    sessionPools: createSessionPools(fleet),
    /** The configuration of the pools in force. */
    effective: () => config.scheduler.pools,
    /** The digest of the pools in force; undefined: there are none. */
    digest: (): string | undefined => fleet.pools && digests.get(fleet.pools),
    /** One at a time: the last reload wins. Without `changeCredentials` only the pools change. */
    reload(changeCredentials?: ChangeCredentials): Promise<Reload> {
      const begin = () => reload(changeCredentials);
      const next = reloading.then(begin, begin);
      reloading = next;
      return next;
    },
    measure(): void {
      meter.gauge('scheduler_phase3_pools', poolCount());
      meter.gauge('scheduler_phase3_unpooled_nodes', fleet.table.pools?.roster(UNPOOLED)?.count ?? 0);
    },
  };
}

export type ConfiguredPools = ReturnType<typeof createConfiguredPools>;

/** Applies the tokens, the keys and the receivers of webhooks of the configuration. */
export type ChangeCredentials = (config: Config) => void;

const POOLS = 'scheduler.pools.';
const CREDENTIALS: ReadonlySet<string> = new Set([
  'server.tokens',
  'server.token_keys',
  'server.token_keys_file',
  'webhooks.receivers',
]);

const withCredentials = (
  server: Config['server'],
  { tokens, token_keys, token_keys_file }: Config['server'],
): Config['server'] => ({ ...server, tokens, token_keys, token_keys_file });

/** Keys of the settings whose values differ. */
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
