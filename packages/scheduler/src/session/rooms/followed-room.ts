/**
 * Hot path: one room that this instance follows. Reads the log after its cursor whenever a message says that there is more, sends captions to
 * its members, and drives the utterances that they speak here.
 */
import type { Language } from '../../domain/language.ts';
import type { PlanInput, PlanListener } from '../../domain/plan.ts';
import type { RoomId, RoomRecord } from '../../domain/room.ts';
import type { LogLine, NumberedAccept } from '../../domain/room-log.ts';
import type { Cancel } from '../../ports/clock.ts';
import { heardLanguages, languageStates } from './demand.ts';
import { createUtteranceDriver, type UtteranceDriver } from './drive-utterances.ts';
import { createLocalMembers, type LocalMembers, type RoomIndex } from './local-members.ts';
import { createRoomRestorer } from './restore-room.ts';
import { createRoomActivity, type RoomActivity } from './room-activity.ts';
import type { RoomDeps } from './room-deps.ts';
import { foldLog, type History, readHistory } from './room-history.ts';
import type { LanguageState } from './room-output.ts';
import {
  createRoomRouter,
  eraseFrom,
  feed,
  isOpen,
  lateEntries,
  nextLateAt,
  spokenOutcome,
  track,
} from './room-router.ts';
import type { RoomEnd } from './room-service.ts';
import { isLostMember } from './room-steps.ts';
import { createRoomVoices } from './room-voices.ts';
import type { RoomWriter } from './room-writer.ts';

export interface FollowedRoom {
  readonly roomId: RoomId;
  readonly local: LocalMembers;
  readonly driver: UtteranceDriver;
  readonly activity: RoomActivity;
  room(): RoomRecord;
  /** Of the last utterance. */
  seq(): number;
  /** When something was said here, as far as this instance has read. */
  activeAt(): number;
  /** Resolves when what the message announces was read, or could not be. */
  advanced(to: {
    readonly last: number;
    readonly version: number;
    readonly isErased?: boolean | undefined;
  }): Promise<void>;
  /** This instance has just saved it. */
  saved(room: RoomRecord): void;
  /** Captions after this one, as members have them at the moment of the call of the function; the live ones follow. */
  history(language: Language, afterSeq: number | undefined): Promise<() => History>;
  languages(): Readonly<Record<Language, LanguageState>>;
  /** The text of an utterance that another instance drives. */
  awaitText(seq: number, listener: PlanListener): void;
  /** Drives an utterance of another instance with this audio, unless its text is known. */
  driveAgain(accept: NumberedAccept, input: PlanInput): Promise<void>;
  /** Continues what this dead instance drove. */
  takeOverFrom(follower: string): Promise<void>;
  /** Other drivers of utterances that have been open for long. */
  overdueDrivers(): readonly string[];
  /** The store may have lost the end of it: `restored` writes it again. */
  doubt(): void;
  restored(): Promise<void> | undefined;
  stop(): void;
}

const PAGE = 500;
const RETRY_MS = 250;
/** Within this time instances notice an emptied store and write it again. What is missing for longer has ended. */
const MISSING_MS = 3_000;
const DELTA_MS = 1_000;
/** Longer than clocks differ and most utterances take. */
const OVERDUE_MS = 10_000;

/** Undefined: the room has ended. */
export async function followRoom(
  deps: RoomDeps & {
    readonly writer: RoomWriter;
    readonly index: RoomIndex;
    readonly ended: (room: RoomRecord, reason: RoomEnd) => void;
  },
  roomId: RoomId,
): Promise<FollowedRoom | undefined> {
  const { clock, log, meter, stores, settings, writer } = deps;
  const { limits } = settings;
  await stores.followers.add(roomId, deps.self());
  const loaded = await stores.records.load(roomId);
  if (loaded === undefined || loaded.endedAt !== undefined) {
    await stores.followers.remove(roomId, deps.self());
    return undefined;
  }
  const opened = await stores.log.open(roomId);
  const local = createLocalMembers(roomId, deps.index);
  /** When the last utterance of each channel ended. */
  const channels = new Map<Language, number>();
  const awaited = new Map<number, PlanListener>();
  let room = loaded;
  /** As it was last sent to the members. */
  let sent = loaded;
  const router = createRoomRouter();
  let cursor = 0;
  let newest: LogLine | undefined;
  let wanted = { last: 0, version: 0 };
  /** Number that was given out at least. */
  let openedSeq = 0;
  let missingSince: number | undefined;
  let activeAt = loaded.activeAt;
  let reading: Promise<void> | undefined;
  let isStopped = false;
  let isAppendingLate = false;
  let lateTimer: Cancel | undefined;
  let deltaTimer: Cancel | undefined;

  const activity = createRoomActivity({
    ...deps,
    room: () => room,
    show: (speaking) => local.activity({ kind: 'activity', code: room.code, speaking }),
  });
  const voices = createRoomVoices({ ...deps, local, room: () => (isStopped ? undefined : room) });
  const driver = createUtteranceDriver({
    ...deps,
    roomId,
    room: () => (isStopped ? undefined : room),
    interpreted() {
      const since = clock.now() - limits.interpreterMs;
      return new Set([...channels].filter(([, at]) => at >= since).map(([language]) => language));
    },
  });

  function noteRecord(next: RoomRecord): void {
    if (next.version <= room.version || isStopped) return;
    const before = room;
    room = next;
    track(router, heardLanguages(room).keys(), clock.now());
    if (next.endedAt !== undefined) {
      end('ended');
      return;
    }
    removeLocal(next);
    local.changed(before, next);
    deltaTimer ??= clock.after(DELTA_MS, () => {
      deltaTimer = undefined;
      local.delta(sent, room, languages());
      sent = room;
    });
  }

  /** A host has removed them, or they joined elsewhere. Those that the store has lost stay, and are put back. */
  function removeLocal(next: RoomRecord): void {
    const { code, members, removed } = next;
    const all = new Map(members.map((member) => [member.memberId, member]));
    for (const member of [...local.members.values()]) {
      const { memberId, joinId, isLegacy, link, listed } = member;
      if (listed === undefined) continue;
      const now = all.get(memberId);
      if (now?.joinId === joinId) {
        member.listed = now;
        member.hears = now.hears;
        continue;
      }
      if (isLostMember(next, listed)) continue;
      local.leave(memberId);
      if (!removed.includes(memberId)) continue;
      link.sendRoom(
        isLegacy
          ? { kind: 'expired', code, message: 'a host has removed you from the room' }
          : { kind: 'notice', code, notice: { code: 'removed' } },
      );
    }
    const self = deps.self();
    local.keepAway(
      new Set(members.flatMap(({ memberId, follower }) => (follower === self ? [memberId] : []))),
    );
  }

  function end(reason: RoomEnd): void {
    if (isStopped) return;
    const message =
      reason === 'ended' ? 'a host has ended the room' : 'the room has ended: it was silent for too long';
    for (const { link } of local.members.values())
      link.sendRoom({ kind: 'expired', code: room.code, message });
    for (const { listen } of local.readers) listen({ kind: 'ended', reason });
    deps.ended(room, reason);
    stop();
  }

  function stop(): void {
    isStopped = true;
    lateTimer?.();
    deltaTimer?.();
    activity.stop();
    driver.leave();
    local.clear();
    writer.noteRead(roomId, Number.POSITIVE_INFINITY);
  }

  const isBehind = (): boolean => !isStopped && (cursor < wanted.last || room.version < wanted.version);

  function read(): Promise<void> {
    if (reading === undefined && isBehind())
      reading = catchUp().finally(() => {
        reading = undefined;
        void read();
      });
    return reading ?? Promise.resolve();
  }

  async function catchUp(): Promise<void> {
    while (isBehind()) {
      try {
        if (room.version < wanted.version) await reload();
        if (cursor < wanted.last && !isStopped) await readOn();
      } catch (fault) {
        log.warn({ room_id: roomId, err: fault }, 'could not read a room; trying again');
        await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
      }
    }
  }

  async function reload(): Promise<void> {
    const next = await stores.records.load(roomId);
    if (next === undefined) return missing();
    missingSince = undefined;
    // A store that lost the newest version is written again by `restored`.
    wanted = { ...wanted, version: Math.min(wanted.version, Math.max(next.version, room.version)) };
    noteRecord(next);
  }

  function missing(): void {
    const now = clock.now();
    missingSince ??= now;
    if (now - missingSince < MISSING_MS) throw new Error('the store does not have the room');
    end('expired');
  }

  async function readOn(): Promise<void> {
    const { last } = wanted;
    const page = await stores.log.read(roomId, cursor, PAGE);
    if (page.kind === 'gone') return missing();
    missingSince = undefined;
    for (const line of page.lines) take(line);
    // What was announced and is not there was lost: other entries may come to lie there.
    if (page.lines.length === 0 && wanted.last === last) wanted = { ...wanted, last: cursor };
    writer.noteRead(roomId, cursor);
    planLate();
  }

  function take(line: LogLine): void {
    const { entry, at, position } = line;
    if (position <= cursor) return;
    cursor = position;
    newest = line;
    activeAt = Math.max(activeAt, at);
    for (const caption of feed(router, line, clock.now())) local.caption(room, caption);
    if (entry.kind === 'accept' && entry.channel !== undefined) channels.set(entry.channel, at);
    if (entry.kind === 'voice') voices.note(entry, router.utterances.get(entry.seq));
    if (entry.kind === 'text') settleAwaited(entry.seq);
  }

  function settleAwaited(seq: number): void {
    const listener = awaited.get(seq);
    const { accept, text, isErased } = router.utterances.get(seq) ?? {};
    if (listener === undefined || accept === undefined || (text === undefined && !isErased)) return;
    awaited.delete(seq);
    listener.settled({ language: accept.source, kind: 'text' }, spokenOutcome(text));
  }

  /** Renditions that others wait for are declared late in time. */
  function planLate(): void {
    lateTimer?.();
    lateTimer = undefined;
    const at = nextLateAt(router, limits.reorderMs);
    if (at === undefined || isStopped || isAppendingLate) return;
    const now = clock.now();
    if (at > now) {
      lateTimer = clock.after(at - now, planLate);
      return;
    }
    const late = lateEntries(router, deps.self(), now, limits.reorderMs);
    // The others are for their drivers to declare; this is asked again with the next line.
    if (late.length === 0) return;
    meter.count('scheduler_room_renditions_total', { outcome: 'late' }, late.length);
    isAppendingLate = true;
    void Promise.all(late.map((entry) => writer.append(roomId, entry))).then(() => {
      isAppendingLate = false;
      // First what was appended is read, or it would be appended again.
      void read().then(planLate);
    });
  }

  const languages = () =>
    languageStates(room, (source, target) => deps.canTranslate(room.tenantId, source, target));

  /** All that the log has, with room for the oldest. */
  /** False: another instance was first. */
  async function becomeDriver(seq: number, from: string): Promise<boolean> {
    const standing = await writer.append(roomId, { kind: 'drive', seq, driver: deps.self(), from });
    return standing !== 'gone' && standing?.kind === 'drive' && standing.driver === deps.self();
  }

  const restorer = createRoomRestorer({
    ...deps,
    roomId,
    known: () => ({
      room,
      ends: { last: newest?.position ?? 0, seq: Math.max(openedSeq, router.lastSeq) },
      newest,
      router,
    }),
    restored(standing, { last, seq }, isLost) {
      noteRecord(standing);
      openedSeq = seq;
      // What was read before changes nothing when it is read again.
      if (isLost) cursor = 0;
      wanted = { ...wanted, last: Math.max(wanted.last, last) };
      void read();
    },
    ended: () => end('ended'),
  });

  track(router, heardLanguages(room).keys(), clock.now());
  wanted = { ...wanted, last: opened.last };
  await read();

  return {
    roomId,
    local,
    driver,
    activity,
    room: () => room,
    seq: () => router.lastSeq,
    activeAt: () => activeAt,
    async advanced({ last, version, isErased }) {
      if (isErased) {
        const folded = await foldLog(stores.log, roomId, cursor);
        const erased = [...folded.utterances.values()].filter((one) => one.isErased).map(({ seq }) => seq);
        for (const caption of eraseFrom(router, erased, clock.now())) local.caption(room, caption);
        for (const seq of erased) settleAwaited(seq);
        planLate();
      }
      wanted = { last: Math.max(wanted.last, last), version: Math.max(wanted.version, version) };
      await read();
    },
    saved: noteRecord,
    history(language, afterSeq) {
      track(router, [language], clock.now());
      return readHistory({ log: stores.log, roomId, router, upTo: cursor }, language, afterSeq);
    },
    languages,
    awaitText(seq, listener) {
      awaited.set(seq, listener);
      settleAwaited(seq);
    },
    async driveAgain(accept, input) {
      const { text, driver: from = accept.driver } = router.utterances.get(accept.seq) ?? {};
      if (text === undefined && (await becomeDriver(accept.seq, from))) driver.drive(accept, input);
    },
    async takeOverFrom(follower) {
      // The dead instance may have written something that it could not announce any more.
      const page = await stores.log.read(roomId, cursor, 1);
      if (page.kind === 'read') wanted = { ...wanted, last: Math.max(wanted.last, page.last) };
      await read();
      for (const utterance of [...router.utterances.values()])
        if (
          utterance.driver === follower &&
          isOpen(utterance) &&
          (await becomeDriver(utterance.seq, follower))
        )
          driver.takeOver(utterance);
    },
    overdueDrivers() {
      const overdue = [...router.utterances.values()].filter(
        (utterance) =>
          (utterance.accept?.acceptedAt ?? clock.now()) + OVERDUE_MS <= clock.now() && isOpen(utterance),
      );
      return [...new Set(overdue.flatMap((one) => one.driver ?? []))].filter((each) => each !== deps.self());
    },
    doubt: restorer.doubt,
    restored: restorer.restored,
    stop,
  };
}
