/** Hot path, where some tenant has a cap: how many sessions each tenant has, and who of them may make room. Bounded in tenants (I11). */
import type { TenantId } from '../../domain/ids.ts';
import type { Tenancy } from '../../domain/tenancy.ts';
import type { Session } from '../session.ts';

export interface TenantSessionCaps {
  enter(session: Session): void;
  leave(session: Session): void;
  /** It has no client; it may come back. */
  away(session: Session): void;
  back(session: Session): void;
  /** At the cap: the one that has been away longest. */
  mayMakeRoom(tenantId: TenantId): Session | undefined;
  hasRoom(tenantId: TenantId): boolean;
  /** Nobody could make room. */
  isFull(tenantId: TenantId): boolean;
  /** For people: which limit it is, and what can be done. */
  explain(tenantId: TenantId): string;
  tenants(): number;
}

interface Room {
  /** Undefined: shared by the tenants for whom there is no other. */
  readonly tenantId: TenantId | undefined;
  count: number;
  /** In the order in which they left. */
  readonly away: Set<Session>;
}

const MAX_TENANTS = 10_000;

export function createTenantSessionCaps(deps: {
  tenancy: Pick<Tenancy, 'of' | 'share' | 'instances'>;
  maxTenants?: number;
}): TenantSessionCaps {
  const { tenancy, maxTenants = MAX_TENANTS } = deps;
  const rooms = new Map<TenantId, Room>();
  const crowd: Room = { tenantId: undefined, count: 0, away: new Set() };
  /** Where each is counted: its tenant may have moved out of the crowd since. */
  const entered = new Map<Session, Room>();

  const find = (tenantId: TenantId): Room | undefined =>
    rooms.get(tenantId) ?? (rooms.size >= maxTenants ? crowd : undefined);

  function roomOf(tenantId: TenantId): Room {
    const known = find(tenantId);
    if (known !== undefined) return known;
    const room: Room = { tenantId, count: 0, away: new Set() };
    rooms.set(tenantId, room);
    return room;
  }

  const limitOf = (tenantId: TenantId): number => tenancy.share(tenancy.of(tenantId).maxSessions);
  const hasRoom = (tenantId: TenantId): boolean => (find(tenantId)?.count ?? 0) < limitOf(tenantId);
  const mayMakeRoom = (tenantId: TenantId): Session | undefined => {
    const [longest] = find(tenantId)?.away ?? [];
    return longest;
  };

  return {
    enter(session) {
      if (entered.has(session)) return;
      const room = roomOf(session.tenantId);
      room.count += 1;
      entered.set(session, room);
    },
    leave(session) {
      const room = entered.get(session);
      if (room === undefined) return;
      entered.delete(session);
      room.away.delete(session);
      room.count -= 1;
      if (room.count === 0 && room.tenantId !== undefined) rooms.delete(room.tenantId);
    },
    away: (session) => entered.get(session)?.away.add(session),
    back: (session) => entered.get(session)?.away.delete(session),
    mayMakeRoom,
    hasRoom,
    isFull: (tenantId) => !hasRoom(tenantId) && mayMakeRoom(tenantId) === undefined,
    explain(tenantId) {
      const limit = tenancy.of(tenantId).maxSessions;
      const instances = tenancy.instances();
      const here = instances > 1 ? `, ${tenancy.share(limit)} of them on each of ${instances} instances` : '';
      return `tenant ${tenantId} may have ${limit} sessions (max_sessions)${here}: close some, or have the limit raised`;
    },
    tenants: () => rooms.size,
  };
}
