/** Cold path: every change of a room's record: joins, leaves, roles, moderation, expiry. Pure. */
import { foldLanguages, type Language } from '../../domain/language.ts';
import {
  type Audience,
  type Hears,
  type MemberId,
  mayModerate,
  pairOf,
  type RoomLimits,
  type RoomMember,
  type RoomRecord,
  type RoomRefusal,
  type RoomRefusalCode,
  type RoomRole,
} from '../../domain/room.ts';
import type { Moderation, RoomSettings } from './room-service.ts';

/** What a change makes of the record. Undefined: it changes nothing. */
export type Stepped = RoomRecord | RoomRefusal | undefined;
export type RoomStep = (room: RoomRecord) => Stepped;

export const refusal = (code: RoomRefusalCode, message: string, field?: string): RoomRefusal => ({
  kind: 'refused',
  code,
  message,
  ...(field !== undefined && { field }),
});

export const isRefusal = (stepped: Stepped): stepped is RoomRefusal =>
  stepped !== undefined && 'kind' in stepped;

export const NOT_FOUND = refusal('ROOM_NOT_FOUND', 'there is no room with this code; it may have ended');

export function newRoom(
  given: Pick<RoomRecord, 'roomId' | 'tenantId' | 'code' | 'createdAt'> & { readonly settings: RoomSettings },
): RoomRecord {
  const { roomId, tenantId, code, createdAt, settings } = given;
  return {
    roomId,
    tenantId,
    code,
    version: 0,
    changeId: '',
    createdAt,
    title: settings.title,
    isRecorded: settings.isRecorded ?? false,
    isLocked: settings.isLocked ?? false,
    fixedLanguages: foldLanguages(settings.fixedLanguages ?? []),
    members: [],
    joins: 0,
    audiences: {},
    silentPairs: [],
    removed: [],
    activeAt: createdAt,
  };
}

export interface Joining {
  readonly memberId: MemberId;
  readonly name?: string | undefined;
  readonly role?: RoomRole | undefined;
  /** What the credential allows beyond the code. */
  readonly grantedRole?: RoomRole | undefined;
  readonly speaks: Language;
  readonly hears: Hears | undefined;
  readonly channel?: Language | undefined;
  readonly isLegacy: boolean;
  readonly follower: string;
  readonly joinId: string;
  readonly at: number;
}

const RANK: Readonly<Record<RoomRole, number>> = { listener: 0, speaker: 1, interpreter: 2, host: 3 };

/** A role of its own: the one that it was given in the room, or the one of its credential; with the code alone, speaker. */
function roleOf({ role, grantedRole }: Joining, present: RoomMember | undefined): RoomRole | RoomRefusal {
  const highest = [present?.role, grantedRole ?? 'speaker']
    .filter((one) => one !== undefined)
    .reduce((one, other) => (RANK[other] > RANK[one] ? other : one));
  if (role === undefined) return present?.role ?? grantedRole ?? 'speaker';
  if (RANK[role] <= RANK[highest]) return role;
  const message = `with this credential you can be ${highest}; a host can make you ${role}, or a token for the room`;
  return refusal('FORBIDDEN', message, '/role');
}

/** Of a large room further listeners are not listed: then the record does not change. */
export const joinRoom =
  (joining: Joining, limits: RoomLimits): RoomStep =>
  (room) => {
    const { memberId, at } = joining;
    const present = room.members.find((member) => member.memberId === memberId);
    const role = roleOf(joining, present);
    if (typeof role !== 'string') return role;
    const others = room.members.filter((member) => member.memberId !== memberId);
    const refused = refuseJoin(room, joining, role, others, present !== undefined, limits);
    if (refused !== undefined) return refused;
    if (present === undefined && role === 'listener' && others.length >= limits.maxListed) return undefined;
    const member: RoomMember = {
      memberId,
      name: joining.name ?? present?.name,
      role,
      speaks: role === 'listener' ? undefined : joining.speaks,
      hears: joining.hears,
      channel: role === 'interpreter' ? (joining.channel ?? joining.speaks) : undefined,
      isMuted: present?.isMuted ?? false,
      isMutedByHost: present?.isMutedByHost,
      isLegacy: joining.isLegacy,
      follower: joining.follower,
      joinId: joining.joinId,
      joinedAt: present?.joinedAt ?? at,
      joinNumber: room.joins + 1,
    };
    return { ...room, members: [...others, member], joins: room.joins + 1, activeAt: at };
  };

function refuseJoin(
  room: RoomRecord,
  { memberId, grantedRole }: Joining,
  role: RoomRole,
  others: readonly RoomMember[],
  isPresent: boolean,
  limits: RoomLimits,
): RoomRefusal | undefined {
  if (room.endedAt !== undefined) return NOT_FOUND;
  if (room.removed.includes(memberId)) return refusal('FORBIDDEN', 'a host has removed you from this room');
  if (isPresent) return undefined;
  if (room.isLocked && grantedRole !== 'host')
    return refusal('ROOM_LOCKED', 'the room is locked; ask a host to unlock it');
  if (others.length + unlisted(room) >= limits.maxMembers)
    return refusal('ROOM_FULL', `the room has its ${limits.maxMembers} members`);
  if (role !== 'listener') return refuseSpeaker(others, limits);
  return undefined;
}

const refuseSpeaker = (others: readonly RoomMember[], limits: RoomLimits): RoomRefusal | undefined =>
  others.filter(({ role }) => role !== 'listener').length >= limits.maxSpeakers
    ? refusal('ROOM_FULL', `the room has its ${limits.maxSpeakers} speakers; join it as listener`, '/role')
    : undefined;

/** Hearers that are counted and not listed. */
export const unlisted = ({ audiences }: RoomRecord): number =>
  Object.values(audiences)
    .flatMap((of) => Object.values(of))
    .reduce((sum, { captions }) => sum + captions, 0);

/** `joinId`: of the connection that ends; a later one of the same member stays. */
export const leaveRoom =
  (memberId: MemberId, joinId?: string): RoomStep =>
  (room) =>
    room.members.some((one) => one.memberId === memberId && (joinId === undefined || one.joinId === joinId))
      ? without(room, new Set([memberId]))
      : undefined;

function without(room: RoomRecord, gone: ReadonlySet<MemberId>): RoomRecord {
  return {
    ...room,
    members: room.members.filter(({ memberId }) => !gone.has(memberId)),
    silentPairs: room.silentPairs.filter((pair) => !pair.split(' ').some((id) => gone.has(id))),
  };
}

/** Legacy members never come back: they leave. */
export const markAway =
  (memberId: MemberId, joinId: string, at: number): RoomStep =>
  (room) => {
    const member = room.members.find((one) => one.memberId === memberId && one.joinId === joinId);
    if (member === undefined || member.awaySince !== undefined) return undefined;
    return member.isLegacy ? leaveRoom(memberId, joinId)(room) : changed(room, memberId, { awaySince: at });
  };

/** The instance is dead: its members are away, its counted hearers gone. */
export const dropFollower =
  (follower: string, at: number): RoomStep =>
  (room) => {
    const { [follower]: audience, ...audiences } = room.audiences;
    const of = room.members.filter((one) => one.follower === follower && one.awaySince === undefined);
    if (of.length === 0 && audience === undefined) return undefined;
    return of.reduce<RoomRecord>(
      (left, { memberId, joinId }) => (markAway(memberId, joinId, at)(left) ?? left) as RoomRecord,
      { ...room, audiences },
    );
  };

/** Whether a failover has lost this member of a connection: it is not listed, or only as before its last join. */
export function isLostMember({ members, removed, endedAt }: RoomRecord, member: RoomMember): boolean {
  const { memberId, joinId, joinNumber } = member;
  if (endedAt !== undefined || removed.includes(memberId)) return false;
  const listed = members.find((one) => one.memberId === memberId);
  return listed === undefined || (listed.joinId !== joinId && listed.joinNumber < joinNumber);
}

/** `present`: the members with a connection to this instance, asked when the step is made: they may have left meanwhile. */
export const putBack =
  (present: () => readonly RoomMember[]): RoomStep =>
  (room) => {
    const lost = present().filter((member) => isLostMember(room, member));
    if (lost.length === 0) return undefined;
    const ids = new Set(lost.map(({ memberId }) => memberId));
    const others = room.members.filter(({ memberId }) => !ids.has(memberId));
    const again = lost.map((member, at) => ({ ...member, joinNumber: room.joins + 1 + at }));
    return { ...room, members: [...others, ...again], joins: room.joins + lost.length };
  };

/** Members that did not come back leave. */
export const removeAway =
  (at: number, { awayMs }: Pick<RoomLimits, 'awayMs'>): RoomStep =>
  (room) => {
    const gone = room.members.filter(({ awaySince }) => awaySince !== undefined && awaySince + awayMs <= at);
    return gone.length === 0 ? undefined : without(room, new Set(gone.map(({ memberId }) => memberId)));
  };

const changed = (room: RoomRecord, memberId: MemberId, change: Partial<RoomMember>): RoomRecord => ({
  ...room,
  members: room.members.map((one) => (one.memberId === memberId ? { ...one, ...change } : one)),
});

export const updateMember =
  (
    memberId: MemberId,
    change: {
      readonly hears?: Hears | undefined;
      readonly speaks?: Language | undefined;
      readonly isMuted?: boolean | undefined;
    },
  ): RoomStep =>
  (room) => {
    const { hears, speaks, isMuted } = change;
    const member = room.members.find((one) => one.memberId === memberId);
    if (member === undefined) return NOT_A_MEMBER;
    if (speaks !== undefined && member.role === 'listener')
      return refusal('FORBIDDEN', 'a listener does not speak; a host can make you a speaker', '/speaks');
    if (isMuted === false && member.isMutedByHost)
      return refusal('FORBIDDEN', 'a host has muted you; only a host can unmute you', '/muted');
    return changed(room, memberId, {
      ...(hears !== undefined && { hears }),
      ...(speaks !== undefined && { speaks }),
      ...(isMuted !== undefined && { isMuted }),
    });
  };

export const NOT_A_MEMBER = refusal('NOT_IN_ROOM', 'you are not in this room; join it first');

export const KEEPS_NO_TEXTS = 'the operator stores no texts (privacy.store_texts = false)';

export const changeSettings =
  ({ title, isRecorded, isLocked, fixedLanguages }: RoomSettings, limits: RoomLimits): RoomStep =>
  (room) => {
    const languages = fixedLanguages && foldLanguages(fixedLanguages);
    if (isRecorded === true && limits.keepsNoTexts === true)
      return refusal('FORBIDDEN', `a room cannot be recorded: ${KEEPS_NO_TEXTS}`, '/recorded');
    if (languages !== undefined && languages.length > limits.maxLanguages)
      return refusal('FORBIDDEN', `a room has at most ${limits.maxLanguages} languages`, '/languages');
    return {
      ...room,
      ...(title !== undefined && { title }),
      ...(isRecorded !== undefined && { isRecorded }),
      ...(isLocked !== undefined && { isLocked }),
      ...(languages !== undefined && { fixedLanguages: languages }),
    };
  };

export const endRoom =
  (at: number): RoomStep =>
  (room) =>
    room.endedAt === undefined
      ? { ...room, endedAt: at, members: [], audiences: {}, silentPairs: [] }
      : undefined;

export const moderate =
  (by: MemberId, order: Moderation, at: number, limits: RoomLimits): RoomStep =>
  (room) => {
    const moderator = room.members.find(({ memberId }) => memberId === by);
    if (moderator === undefined) return NOT_A_MEMBER;
    if (!mayModerate(moderator))
      return refusal('FORBIDDEN', 'only a host may do this; ask one, or use a token');
    switch (order.action) {
      case 'lock':
      case 'unlock':
        return changeSettings({ isLocked: order.action === 'lock' }, limits)(room);
      case 'languages':
        return changeSettings({ fixedLanguages: order.languages }, limits)(room);
      case 'end':
        return endRoom(at)(room);
      default:
        return moderateMember(room, order, limits);
    }
  };

function moderateMember(
  room: RoomRecord,
  order: Extract<Moderation, { readonly memberId: MemberId }>,
  limits: RoomLimits,
): Stepped {
  const { memberId } = order;
  const member = room.members.find((one) => one.memberId === memberId);
  if (member === undefined)
    return refusal('NOT_IN_ROOM', `${memberId} is not listed in this room`, '/member');
  switch (order.action) {
    case 'mute':
    case 'unmute': {
      const isMuted = order.action === 'mute';
      return changed(room, memberId, { isMuted, isMutedByHost: isMuted });
    }
    case 'remove':
      return {
        ...without(room, new Set([memberId])),
        removed: [...room.removed, memberId].slice(-MAX_REMOVED),
      };
    case 'role': {
      const { role } = order;
      const others = room.members.filter((one) => one.memberId !== memberId);
      const refused = role === 'listener' ? undefined : refuseSpeaker(others, limits);
      if (refused !== undefined) return refused;
      const speaks = role === 'listener' ? undefined : (member.speaks ?? 'auto');
      const channel = role === 'interpreter' ? (member.channel ?? member.hears?.language) : undefined;
      return changed(room, memberId, { role, speaks, channel });
    }
  }
}

/** A session that was removed may come back as another one; this list only keeps it from rejoining at once. */
const MAX_REMOVED = 256;

/** One connection carries the voices of both directions, so the wish of one switches off both. */
export const setPair =
  (one: MemberId, other: MemberId, isWanted: boolean): RoomStep =>
  (room) => {
    const present = new Set(room.members.map(({ memberId }) => memberId));
    if (!present.has(one)) return NOT_A_MEMBER;
    if (!present.has(other))
      return refusal('NOT_IN_ROOM', `${other} is not listed in this room`, '/target_session_id');
    const pair = pairOf(one, other);
    const rest = room.silentPairs.filter((each) => each !== pair);
    if (isWanted === (rest.length === room.silentPairs.length)) return undefined;
    return { ...room, silentPairs: isWanted ? rest : [...rest, pair] };
  };

export const setAudience =
  (follower: string, audience: Readonly<Record<Language, Audience>>): RoomStep =>
  (room) => {
    const { [follower]: before, ...rest } = room.audiences;
    if (JSON.stringify(before ?? {}) === JSON.stringify(audience)) return undefined;
    const isEmpty = Object.keys(audience).length === 0;
    return { ...room, audiences: isEmpty ? rest : { ...rest, [follower]: audience } };
  };

export const noteActive =
  (at: number): RoomStep =>
  (room) =>
    at > room.activeAt ? { ...room, activeAt: at } : undefined;

export const isIdle = (room: RoomRecord, activeAt: number, at: number, { idleMs }: RoomLimits): boolean =>
  room.endedAt === undefined && Math.max(room.activeAt, activeAt) + idleMs <= at;
