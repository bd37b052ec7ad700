/** Hot path, if a tenant has a cap: counts the sessions and results of each tenant and finds the session to evict. Bounded in tenants (I11). */
import type { TenantId } from '../../domain/ids.ts';
import { partOf, type Tenancy } from '../../domain/tenancy.ts';
import type { Session } from '../session.ts';

export interface TenantSessionCaps {
  add(session: Session): void;
  remove(session: Session): void;
  /** Its client disconnected and may resume. */
  disconnected(session: Session): void;
  reconnected(session: Session): void;
  /** The session to evict at the cap. */
  longestDisconnected(tenantId: TenantId): Session | undefined;
  /** Bytes of results that wait or are kept. */
  setResultBytes(session: Session, bytes: number): void;
  /** Some tenants have more than their part of all results. `longest`: of their sessions, the one to evict. */
  overfull(): { readonly longest: Session | undefined } | undefined;
  isBelowCap(tenantId: TenantId): boolean;
  /** At the cap, and no session can be evicted. */
  isFull(tenantId: TenantId): boolean;
  /** A session was refused at the cap. */
  reached(tenantId: TenantId): void;
  /** For people: which limit was reached and what can be done. */
  explain(tenantId: TenantId): string;
  tenants(): number;
}

interface TenantTally {
  /** Undefined: the shared tally of tenants beyond the limit. */
  readonly tenantId: TenantId | undefined;
  count: number;
  resultBytes: number;
  /** In order of disconnection. */
  readonly disconnected: Set<Session>;
}

const MAX_TENANTS = 10_000;

const newTally = (tenantId: TenantId | undefined): TenantTally => ({
  tenantId,
  count: 0,
  resultBytes: 0,
  disconnected: new Set(),
});

export function createTenantSessionCaps(deps: {
  tenancy: Pick<Tenancy, 'of' | 'share' | 'instances' | 'maxShare' | 'reached'>;
  /** Of all tenants on this instance. */
  maxSessions: number;
  maxResultBytes: number;
  maxTenants?: number;
}): TenantSessionCaps {
  const { tenancy, maxTenants = MAX_TENANTS } = deps;
  const tallies = new Map<TenantId, TenantTally>();
  const overflow = newTally(undefined);
  /** The tally that counts each session: its tenant may have got its own tally later. */
  const countedIn = new Map<Session, { readonly tally: TenantTally; resultBytes: number }>();
  /** Above their part of the results. */
  const overfull = new Set<TenantTally>();
  const mostResultBytes = partOf(deps.maxResultBytes, tenancy.maxShare);

  const find = (tenantId: TenantId): TenantTally | undefined =>
    tallies.get(tenantId) ?? (tallies.size >= maxTenants ? overflow : undefined);

  function tallyOf(tenantId: TenantId): TenantTally {
    const known = find(tenantId);
    if (known !== undefined) return known;
    const tally = newTally(tenantId);
    tallies.set(tenantId, tally);
    return tally;
  }

  function addResultBytes(tally: TenantTally, change: number): void {
    tally.resultBytes += change;
    if (tally.resultBytes > mostResultBytes) overfull.add(tally);
    else overfull.delete(tally);
  }

  const limitOf = (tenantId: TenantId): number =>
    tenancy.share(tenancy.of(tenantId).maxSessions, deps.maxSessions);
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
      countedIn.set(session, { tally, resultBytes: 0 });
    },
    remove(session) {
      const counted = countedIn.get(session);
      if (counted === undefined) return;
      const { tally, resultBytes } = counted;
      countedIn.delete(session);
      addResultBytes(tally, -resultBytes);
      tally.disconnected.delete(session);
      tally.count -= 1;
      if (tally.count === 0 && tally.tenantId !== undefined) tallies.delete(tally.tenantId);
    },
    disconnected: (session) => countedIn.get(session)?.tally.disconnected.add(session),
    reconnected: (session) => countedIn.get(session)?.tally.disconnected.delete(session),
    setResultBytes(session, bytes) {
      const counted = countedIn.get(session);
      if (counted === undefined) return;
      addResultBytes(counted.tally, bytes - counted.resultBytes);
      counted.resultBytes = bytes;
    },
    overfull() {
      if (overfull.size === 0) return undefined;
      for (const { disconnected } of overfull) for (const longest of disconnected) return { longest };
      return { longest: undefined };
    },
    longestDisconnected,
    isBelowCap,
    isFull: (tenantId) => !isBelowCap(tenantId) && longestDisconnected(tenantId) === undefined,
    reached: (tenantId) => tenancy.reached(tenantId, 'sessions'),
    explain(tenantId) {
      const limit = tenancy.of(tenantId).maxSessions;
      const instances = tenancy.instances();
      if (limitOf(tenantId) < tenancy.share(limit)) {
        return `tenant ${tenantId} may have ${limitOf(tenantId)} sessions on this instance (scheduler.tenant_limits.max_share_percent of session.max_sessions): close some, or have the limit raised`;
      }
      const here = instances > 1 ? `, ${tenancy.share(limit)} of them on each of ${instances} instances` : '';
      return `tenant ${tenantId} may have ${limit} sessions (max_sessions)${here}: close some, or have the limit raised`;
    },
    tenants: () => tallies.size,
  };
}
