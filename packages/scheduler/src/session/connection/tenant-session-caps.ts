/** Hot path, if a tenant has a cap: counts the sessions of each tenant and finds the one to evict. Bounded in tenants (I11). */
import type { TenantId } from '../../domain/ids.ts';
import type { Tenancy } from '../../domain/tenancy.ts';
import type { Session } from '../session.ts';

export interface TenantSessionCaps {
  add(session: Session): void;
  remove(session: Session): void;
  /** Its client disconnected and may resume. */
  disconnected(session: Session): void;
  reconnected(session: Session): void;
  /** The session to evict at the cap. */
  longestDisconnected(tenantId: TenantId): Session | undefined;
  isBelowCap(tenantId: TenantId): boolean;
  /** At the cap, and no session can be evicted. */
  isFull(tenantId: TenantId): boolean;
  /** For people: which limit was reached and what can be done. */
  explain(tenantId: TenantId): string;
  tenants(): number;
}

interface TenantTally {
  /** Undefined: the shared tally of tenants beyond the limit. */
  readonly tenantId: TenantId | undefined;
  count: number;
  /** In order of disconnection. */
  readonly disconnected: Set<Session>;
}

const MAX_TENANTS = 10_000;

export function createTenantSessionCaps(deps: {
  tenancy: Pick<Tenancy, 'of' | 'share' | 'instances'>;
  maxTenants?: number;
}): TenantSessionCaps {
  const { tenancy, maxTenants = MAX_TENANTS } = deps;
  const tallies = new Map<TenantId, TenantTally>();
  const overflow: TenantTally = { tenantId: undefined, count: 0, disconnected: new Set() };
  /** The tally that counts each session: its tenant may have got its own tally later. */
  const countedIn = new Map<Session, TenantTally>();

  const find = (tenantId: TenantId): TenantTally | undefined =>
    tallies.get(tenantId) ?? (tallies.size >= maxTenants ? overflow : undefined);

  function tallyOf(tenantId: TenantId): TenantTally {
    const known = find(tenantId);
    if (known !== undefined) return known;
    const tally: TenantTally = { tenantId, count: 0, disconnected: new Set() };
    tallies.set(tenantId, tally);
    return tally;
  }

  const limitOf = (tenantId: TenantId): number => tenancy.share(tenancy.of(tenantId).maxSessions);
  const isBelowCap = (tenantId: TenantId): boolean => (find(tenantId)?.count ?? 0) < limitOf(tenantId);
  const longestDisconnected = (tenantId: TenantId): Session | undefined => {
    const [longest] = find(tenantId)?.disconnected ?? [];
    return longest;
  };

  return {
    add(session) {
      if (countedIn.has(session)) return;
      const tally = tallyOf(session.tenantId);
      tally.count += 1;
      countedIn.set(session, tally);
    },
    remove(session) {
      const tally = countedIn.get(session);
      if (tally === undefined) return;
      countedIn.delete(session);
      tally.disconnected.delete(session);
      tally.count -= 1;
      if (tally.count === 0 && tally.tenantId !== undefined) tallies.delete(tally.tenantId);
    },
    disconnected: (session) => countedIn.get(session)?.disconnected.add(session),
    reconnected: (session) => countedIn.get(session)?.disconnected.delete(session),
    longestDisconnected,
    isBelowCap,
    isFull: (tenantId) => !isBelowCap(tenantId) && longestDisconnected(tenantId) === undefined,
    explain(tenantId) {
      const limit = tenancy.of(tenantId).maxSessions;
      const instances = tenancy.instances();
      const here = instances > 1 ? `, ${tenancy.share(limit)} of them on each of ${instances} instances` : '';
      return `tenant ${tenantId} may have ${limit} sessions (max_sessions)${here}: close some, or have the limit raised`;
    },
    tenants: () => tallies.size,
  };
}
