/** Failure path: refused requests of the last ten minutes, by language pair, by tenant, and by full pool. For operators; bounded (I11). */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { NeededDirection } from '../../domain/need.ts';
import { spokenDirections } from '../../domain/needed-directions.ts';
import type { PoolId } from '../../domain/pool.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';

export interface RefusedPair {
  readonly source: string;
  readonly target: string;
  count: number;
}

export interface RefusedTenant {
  readonly tenantId: TenantId;
  /** By error code. */
  readonly codes: Record<string, number>;
}

export interface RecentRefusals {
  note(refused: {
    tenantId: TenantId;
    directions: readonly NeededDirection[];
    code: string;
    fullPool?: PoolId | undefined;
  }): void;
  pairs(): readonly RefusedPair[];
  tenants(): readonly RefusedTenant[];
  /** How many each pool lacked a slot or a node for. */
  pools(): readonly (readonly [poolId: PoolId, count: number])[];
}

const MINUTE_MS = 60_000;
const MINUTES = 10;
/** Kinds per minute; further ones are not counted. */
const MAX_KINDS = 1_000;

interface Minute {
  readonly begunAt: number;
  /** By names that contain no space: languages and tenants are ids. */
  readonly pairs: Map<string, number>;
  readonly tenants: Map<string, number>;
  readonly pools: Map<string, number>;
}

export function createRecentRefusals({ clock }: { clock: Clock }): RecentRefusals {
  let minutes: Minute[] = [];

  function present(): Minute {
    const now = clock.now();
    minutes = minutes.filter(({ begunAt }) => now - begunAt < MINUTES * MINUTE_MS);
    const last = minutes.at(-1);
    if (last !== undefined && now - last.begunAt < MINUTE_MS) return last;
    const minute: Minute = { begunAt: now, pairs: new Map(), tenants: new Map(), pools: new Map() };
    minutes.push(minute);
    return minute;
  }

  function count(counts: Map<string, number>, kind: string): void {
    const known = counts.get(kind);
    if (known !== undefined || counts.size < MAX_KINDS) counts.set(kind, (known ?? 0) + 1);
  }

  function* sums(of: 'pairs' | 'tenants' | 'pools'): Generator<readonly [string, string, number]> {
    present();
    const all = new Map<string, number>();
    for (const minute of minutes)
      for (const [kind, number] of minute[of]) all.set(kind, (all.get(kind) ?? 0) + number);
    for (const [kind, number] of all) {
      const [one = '', other = ''] = kind.split(' ');
      yield [one, other, number];
    }
  }

  return {
    note({ tenantId, directions, code, fullPool }) {
      const minute = present();
      for (const { source, target } of directions) count(minute.pairs, `${source} ${target}`);
      count(minute.tenants, `${tenantId} ${code}`);
      if (fullPool !== undefined) count(minute.pools, `${fullPool}`);
    },
    pairs: () => [...sums('pairs')].map(([source, target, number]) => ({ source, target, count: number })),
    pools: () => [...sums('pools')].map(([poolId, , number]) => [Number(poolId), number] as const),
    tenants() {
      const byTenant = new Map<TenantId, Record<string, number>>();
      for (const [tenantId, code, number] of sums('tenants'))
        byTenant.set(tenantId, { ...byTenant.get(tenantId), [code]: number });
      return [...byTenant].map(([tenantId, codes]) => ({ tenantId, codes }));
    },
  };
}

type Dispatch = (request: DispatchRequest) => MaybePromise<DispatchOutcome>;

/** The same dispatch; its refusals are noted. */
export const noteRefusals =
  (dispatch: Dispatch, refusals: Pick<RecentRefusals, 'note'>): Dispatch =>
  (request) => {
    const outcome = dispatch(request);
    const note = (settled: DispatchOutcome): void => {
      if (settled.kind !== 'refused') return;
      const { tenantId, spec } = request;
      const { code, fullPool } = settled;
      refusals.note({ tenantId, directions: spokenDirections(spec), code, fullPool });
    };
    // The caller handles a rejection.
    if (outcome instanceof Promise) outcome.then(note, () => {});
    else note(outcome);
    return outcome;
  };
