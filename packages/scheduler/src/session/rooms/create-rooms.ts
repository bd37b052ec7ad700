/** Hot path: rooms: creating, joining, leaving, moderation, captions and transcripts, over the rooms that this instance follows. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import { foldLanguage } from '../../domain/language.ts';
import type { PlanRunner } from '../../domain/plan.ts';
import {
  type Hears,
  type MemberId,
  maySpeak,
  type RoomId,
  type RoomRecord,
  type RoomRefusal,
} from '../../domain/room.ts';
import { hearsOf } from './demand.ts';
import type { FollowedRoom } from './followed-room.ts';
import type { LocalMember } from './local-members.ts';
import { createSignals } from './relay-signals.ts';
import { createRoomCaptions } from './room-captions.ts';
import { createRoomCodes } from './room-codes.ts';
import type { ActivityHint, RoomDeps, RoomMessage } from './room-deps.ts';
import { AFTER_ALL } from './room-history.ts';
import type { RoomLink } from './room-output.ts';
import type { Attendee, JoinRoom, RoomMembers, RoomResult, RoomService, SavedEnd } from './room-service.ts';
import {
  changeSettings,
  joinRoom,
  leaveRoom,
  markAway,
  moderate,
  NOT_A_MEMBER,
  NOT_FOUND,
  type RoomStep,
  refusal,
  setPair,
  updateMember,
} from './room-steps.ts';
import { createRoomTable } from './room-table.ts';
import { createRoomWriter, type RoomWriter } from './room-writer.ts';
import { createSpeakInRooms, type Voice } from './speak-in-room.ts';

export interface Rooms {
  readonly service: RoomService;
  readonly members: RoomMembers;
  /** Plans of utterances: those of members go through their room. */
  readonly plans: PlanRunner;
  /** Undefined: the session is in no room. */
  voiceOf(sessionId: SessionId): Voice | undefined;
  /** A session has begun an utterance, or ended it. */
  noteSpeaking(sessionId: SessionId, isSpeaking: boolean): void;
  receiveHint(hint: ActivityHint): void;
  /** From another instance. */
  receive(message: RoomMessage): Promise<void>;
  takeOver(instanceId: string): Promise<void>;
  reassert(isAffected: (roomId: RoomId) => boolean): void;
  abandonAll(): void;
  counts(): { readonly rooms: number; readonly members: number };
  stop(): void;
}

const TICK_MS = 1_000;

export function createRooms(deps: RoomDeps): Rooms {
  const { clock, ids, log, meter, settings, stores } = deps;
  const { limits } = settings;
  const listeners: ((room: RoomRecord, reason: SavedEnd) => void)[] = [];
  const writer: RoomWriter = createRoomWriter({
    ...deps,
    advanced: (message) => void table.followed(message.roomId)?.advanced(message),
    restored: (roomId) => table.followed(roomId)?.restored(),
  });
  const table = createRoomTable({
    ...deps,
    writer,
    ended(room, reason) {
      for (const listen of listeners) listen(room, reason);
    },
  });
  const signals = createSignals({ ...deps, table });
  const { createRoom, resolve, tryName } = createRoomCodes({ ...deps, writer });
  let isStopped = false;
  tickLater();

  function tickLater(): void {
    clock.after(TICK_MS, () => {
      if (isStopped) return;
      table.tick();
      tickLater();
    });
  }

  /** A store that does not answer is a refusal, too. */
  async function guarded<T>(call: () => Promise<T | RoomRefusal>): Promise<T | RoomRefusal> {
    try {
      return await call();
    } catch (fault) {
      log.warn({ err: fault }, 'a request about a room failed');
      return refusal('SCHEDULER_DEPENDENCY_DOWN', 'the store does not answer; try again in a moment');
    }
  }

  async function counted(call: () => Promise<RoomRefusal | undefined>): Promise<RoomRefusal | undefined> {
    const refused = await guarded(call);
    if (refused !== undefined) meter.count('scheduler_room_refusals_total', { code: refused.code });
    return refused;
  }

  async function load(tenantId: TenantId, roomId: RoomId): Promise<RoomRecord | undefined> {
    const room = await stores.records.load(roomId);
    return room?.tenantId === tenantId ? room : undefined;
  }

  async function enter(
    by: Attendee,
    order: JoinRoom & { readonly isHost?: boolean },
    roomId: RoomId,
    link: RoomLink,
  ): Promise<RoomRefusal | undefined> {
    const current = table.of(by.sessionId);
    if (current !== undefined && current.followed.roomId !== roomId)
      return refusal('ALREADY_IN_ROOM', `you are in room ${current.followed.room().code}; leave it first`);
    const followed = await table.follow(roomId);
    if (followed === undefined) return NOT_FOUND;
    const release = followed.local.hold();
    try {
      return await enterFollowed(by, order, followed, link);
    } finally {
      release();
    }
  }

  async function enterFollowed(
    by: Attendee,
    order: JoinRoom & { readonly isHost?: boolean },
    followed: FollowedRoom,
    link: RoomLink,
  ): Promise<RoomRefusal | undefined> {
    const { sessionId, isLegacy } = by;
    const { roomId } = followed;
    const joinId = ids.traceId();
    const hears = hearsOf(by, order);
    const refused = refuseLanguage(followed, hears, order.hears !== undefined);
    if (refused !== undefined) return refused;
    const step = joinRoom(
      {
        memberId: sessionId,
        name: order.name,
        role: order.role,
        grantedRole: order.isHost ? 'host' : order.grant?.role,
        speaks: foldLanguage(order.speaks ?? by.source),
        hears,
        channel: order.channel && foldLanguage(order.channel),
        isLegacy,
        follower: deps.self(),
        joinId,
        at: clock.now(),
      },
      limits,
    );
    const wasMember = followed.room().members.some(({ memberId }) => memberId === sessionId);
    const changed = await writer.change(roomId, step);
    if (changed.kind === 'refused') return changed;
    const { room } = changed;
    const listed = room.members.find((one) => one.memberId === sessionId);
    // Where no texts are stored, only a member that resumes gets what it missed.
    const afterSeq = !limits.keepsNoTexts
      ? order.afterSeq
      : ((wasMember ? order.afterSeq : undefined) ?? AFTER_ALL);
    const read = isLegacy ? undefined : await followed.history(hears.language, afterSeq);
    followed.saved(room);
    // From here to the end nothing is awaited: a caption that comes meanwhile would be lost, or come twice.
    const history = read?.();
    const member: LocalMember = {
      memberId: sessionId,
      joinId,
      isLegacy,
      link,
      listed,
      hears,
      isVoicePaused: false,
    };
    followed.local.enter(member);
    link.sendRoom({ kind: 'entered', room });
    if (isLegacy) link.sendRoom({ kind: 'members', room, receiver: sessionId });
    else
      link.sendRoom({
        kind: 'state',
        room,
        receiver: sessionId,
        languages: followed.languages(),
        seq: followed.seq(),
      });
    const { code } = room;
    if (history?.missed !== undefined)
      link.sendRoom({ kind: 'notice', code, notice: { code: 'missed', ...history.missed } });
    for (const caption of history?.captions ?? [])
      if (caption.speaker !== sessionId) link.sendRoom({ kind: 'caption', code, caption });
    return undefined;
  }

  /** Only what a member asked for itself is refused: at the beginning a room may have no nodes yet. */
  function refuseLanguage(
    followed: FollowedRoom,
    hears: Hears | undefined,
    isAsked: boolean,
  ): RoomRefusal | undefined {
    if (hears === undefined || !isAsked) return undefined;
    const { tenantId, members } = followed.room();
    const sources = members.flatMap(({ speaks }) =>
      speaks === undefined || speaks === 'auto' ? [] : [speaks],
    );
    const { language } = hears;
    const isOffered =
      sources.length === 0 ||
      sources.some((source) => source === language || deps.canTranslate(tenantId, source, language));
    return isOffered
      ? undefined
      : refusal(
          'LANGUAGE_UNAVAILABLE',
          `no node translates ${sources.join(' or ')} into ${language} now`,
          '/hears/lang',
        );
  }

  async function changeMember(
    sessionId: SessionId,
    code: string | undefined,
    stepOf: (memberId: MemberId) => RoomStep,
  ): Promise<RoomRefusal | undefined> {
    const current = table.of(sessionId);
    if (current === undefined || (code !== undefined && current.followed.room().code !== code))
      return NOT_A_MEMBER;
    const { followed } = current;
    const changed = await writer.change(followed.roomId, stepOf(sessionId));
    if (changed.kind === 'refused') return changed;
    followed.saved(changed.room);
    return undefined;
  }

  /** The connection was forgotten at once; then the record is changed. */
  function noteGone(followed: FollowedRoom, step: RoomStep): Promise<unknown> {
    return writer.change(followed.roomId, step).then((changed) => {
      if (changed.kind === 'done') followed.saved(changed.room);
    });
  }

  async function listAll(tenantId: TenantId): Promise<readonly RoomRecord[]> {
    const names = await stores.records.list(tenantId);
    const rooms = await Promise.all(names.map(({ roomId }) => load(tenantId, roomId)));
    return rooms.filter((room) => room !== undefined && room.endedAt === undefined) as readonly RoomRecord[];
  }

  const service: RoomService = {
    create: ({ tenantId, settings: given, hasDigitCode = false }) =>
      guarded(async () => {
        const created = await createRoom(tenantId, given, hasDigitCode);
        // It ends the room in time if no member comes, and writes it again after a failover.
        if (created.kind === 'done') await table.follow(created.room.roomId);
        return created;
      }),
    find: (tenantId, name, guesser) =>
      guarded(async () => {
        const look = async (): Promise<RoomResult<{ readonly room: RoomRecord }>> => {
          const room = await load(tenantId, (await stores.records.find(tenantId, name)) ?? name);
          return room === undefined || room.endedAt !== undefined ? NOT_FOUND : { kind: 'done', room };
        };
        return guesser === undefined ? look() : tryName(guesser, look);
      }),
    list: (tenantId) => guarded(async () => ({ kind: 'done', rooms: await listAll(tenantId) })),
    change: (tenantId, roomId, given) =>
      guarded(async () => {
        if ((await load(tenantId, roomId)) === undefined) return NOT_FOUND;
        return writer.change(roomId, (room) =>
          room.endedAt === undefined ? changeSettings(given, limits)(room) : NOT_FOUND,
        );
      }),
    end: (tenantId, roomId) =>
      guarded(async () => {
        const room = await load(tenantId, roomId);
        if (room === undefined || room.endedAt !== undefined) return NOT_FOUND;
        await table.end(roomId, 'ended');
        return { kind: 'done' };
      }),
    ...createRoomCaptions({ ...deps, writer, table, load, guarded }),
    onEnded: (listen) => void listeners.push(listen),
  };

  const members: RoomMembers = {
    create: (by, order, link) =>
      counted(async () => {
        const current = table.of(by.sessionId);
        if (current !== undefined)
          return refusal(
            'ALREADY_IN_ROOM',
            `you are in room ${current.followed.room().code}; leave it first`,
          );
        const created = await createRoom(by.tenantId, order.settings, by.isLegacy);
        if (created.kind === 'refused') return created;
        const { roomId, code } = created.room;
        return enter(by, { ...order, code, isHost: true }, roomId, link);
      }),
    join: (by, order, link) =>
      counted(async () => {
        const roomId = await resolve(by, order);
        return typeof roomId === 'string' ? enter(by, order, roomId, link) : roomId;
      }),
    leave: (sessionId, code) =>
      counted(async () => {
        const current = table.of(sessionId);
        // A legacy client also leaves a room that has ended.
        if (current === undefined || current.followed.room().code !== code) return undefined;
        current.followed.local.leave(sessionId);
        await noteGone(current.followed, leaveRoom(sessionId));
        return undefined;
      }),
    update: (sessionId, change) =>
      counted(async () => {
        const current = table.of(sessionId);
        if (current === undefined) return NOT_A_MEMBER;
        const hears = change.hears && { ...change.hears, language: foldLanguage(change.hears.language) };
        const refused = refuseLanguage(current.followed, hears, true);
        if (refused !== undefined) return refused;
        if (current.member.listed === undefined) {
          if (hears !== undefined) current.member.hears = hears;
          return undefined;
        }
        const speaks = change.speaks && foldLanguage(change.speaks);
        return changeMember(sessionId, undefined, (memberId) =>
          updateMember(memberId, { ...change, hears, speaks }),
        );
      }),
    moderate: (sessionId, order) =>
      counted(async () => {
        if (order.action !== 'end')
          return changeMember(sessionId, undefined, (by) => moderate(by, order, clock.now(), limits));
        const current = table.of(sessionId);
        if (current === undefined) return NOT_A_MEMBER;
        const { followed } = current;
        const allowed = moderate(sessionId, order, clock.now(), limits)(followed.room());
        if (allowed !== undefined && 'kind' in allowed) return allowed;
        await table.end(followed.roomId, 'ended');
        return undefined;
      }),
    setRawVoice: (sessionId, code, other, isWanted) =>
      counted(() => changeMember(sessionId, code, (memberId) => setPair(memberId, other, isWanted))),
    relay: (sessionId, code, signal) => counted(() => signals.relay(sessionId, code, signal)),
    detached(sessionId, link) {
      const current = table.of(sessionId);
      if (current === undefined || current.member.link !== link) return;
      const { followed, member } = current;
      // A listener that is only counted has nothing to come back to.
      if (member.isLegacy || member.listed === undefined) followed.local.leave(sessionId);
      else followed.local.detach(sessionId);
      noteGone(followed, markAway(sessionId, member.joinId, clock.now())).catch((fault: unknown) =>
        log.warn({ session_id: sessionId, err: fault }, 'a member is marked away later'),
      );
    },
  };

  return {
    service,
    members,
    plans: createSpeakInRooms({ ...deps, writer, table }),
    voiceOf(sessionId) {
      const followed = table.roomOf(sessionId);
      if (followed === undefined) return undefined;
      const member = followed.room().members.find(({ memberId }) => memberId === sessionId);
      if (member?.speaks !== undefined && maySpeak(member))
        return {
          kind: 'speaks',
          language: member.channel ?? member.speaks,
          isFull: followed.driver.openOf(sessionId) >= limits.maxOpenUtterances,
        };
      const why = member?.isMuted ? 'you are muted in this room' : 'a listener does not speak in a room';
      return { kind: 'silent', message: `${why}; a host can change that` };
    },
    noteSpeaking(sessionId, isSpeaking) {
      const followed = table.roomOf(sessionId);
      const member = followed?.room().members.find(({ memberId }) => memberId === sessionId);
      if (member !== undefined && (!isSpeaking || maySpeak(member)))
        followed?.activity.note(sessionId, isSpeaking);
    },
    receiveHint: (hint) => table.followed(hint.roomId)?.activity.receive(hint),
    async receive(message) {
      if (message.kind === 'signal') return signals.receive(message);
      await table.followed(message.roomId)?.advanced(message);
    },
    takeOver: table.takeOver,
    reassert: table.reassert,
    abandonAll: table.abandonAll,
    counts: table.counts,
    stop() {
      isStopped = true;
      writer.stop();
    },
  };
}
