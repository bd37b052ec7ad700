/** Hot path: the members of one room that are connected to this instance, and the readers of its captions: who gets which message. */
import type { Language } from '../../domain/language.ts';
import type { Audience, Hears, MemberId, RoomId, RoomMember, RoomRecord } from '../../domain/room.ts';
import type { LanguageState, RoomLink, RoomOutput } from './room-output.ts';
import type { Caption, CaptionEvent } from './room-service.ts';

export interface LocalMember {
  readonly memberId: MemberId;
  readonly joinId: string;
  readonly isLegacy: boolean;
  readonly link: RoomLink;
  /** As the record last listed it. Undefined: a listener of a large room, which the record only counts. */
  listed: RoomMember | undefined;
  hears: Hears | undefined;
  /** Its connection is too far behind for speech. */
  isVoicePaused: boolean;
}

export interface Reader {
  readonly language: Language;
  readonly listen: (event: CaptionEvent) => void;
}

/** The room of each session of this instance, also of one that has lost its connection: what it said before is said in the room. */
export type RoomIndex = Map<MemberId, RoomId>;

export interface LocalMembers {
  /** With a connection. */
  readonly members: ReadonlyMap<MemberId, LocalMember>;
  readonly readers: Set<Reader>;
  /** Somebody enters, or its utterances are taken over: until the returned function is called the room must be followed. */
  hold(): () => void;
  /** It has members or readers, or is held. */
  isUsed(): boolean;
  enter(member: LocalMember): void;
  /** Its connection has ended; it may come back. */
  detach(memberId: MemberId): void;
  leave(memberId: MemberId): void;
  /** Those without a connection that are not in this list have left, or are elsewhere. */
  keepAway(listed: ReadonlySet<MemberId>): void;
  clear(): void;
  caption(room: RoomRecord, caption: Caption): void;
  voice(output: Extract<RoomOutput, { kind: 'voice' }>): void;
  activity(output: Extract<RoomOutput, { kind: 'activity' }>): void;
  hasVoiceHearer(language: Language, except: MemberId): boolean;
  /** The record has changed: lists for legacy members now, notices, and later `delta`. */
  changed(before: RoomRecord, room: RoomRecord): void;
  /** What changed between the two records, for members that understand it. */
  delta(before: RoomRecord, room: RoomRecord, languages: Readonly<Record<Language, LanguageState>>): void;
  /** Of hearers that the record does not list. */
  audience(): Readonly<Record<Language, Audience>>;
}

/** Speech of six seconds, uncompressed, in the bytes of its base64. */
const VOICE_BEHIND_BYTES = 256_000;

export function createLocalMembers(roomId: RoomId, index: RoomIndex): LocalMembers {
  const members = new Map<MemberId, LocalMember>();
  const readers = new Set<Reader>();
  const away = new Set<MemberId>();
  let holds = 0;

  function leave(memberId: MemberId): void {
    members.delete(memberId);
    away.delete(memberId);
    if (index.get(memberId) === roomId) index.delete(memberId);
  }

  function sendVoice(member: LocalMember, output: Extract<RoomOutput, { kind: 'voice' }>): void {
    const behind = member.link.unsentBytes?.() ?? 0;
    const { code, language } = output;
    if (member.isVoicePaused ? behind > VOICE_BEHIND_BYTES / 2 : behind > VOICE_BEHIND_BYTES) {
      if (!member.isVoicePaused)
        member.link.sendRoom({ kind: 'notice', code, notice: { code: 'voice_paused', language } });
      member.isVoicePaused = true;
      return;
    }
    if (member.isVoicePaused)
      member.link.sendRoom({ kind: 'notice', code, notice: { code: 'voice_resumed', language } });
    member.isVoicePaused = false;
    member.link.sendRoom(output);
  }

  const wantsVoice = ({ hears, isLegacy, memberId }: LocalMember, language: Language, speaker: MemberId) =>
    // A legacy member would play anything but pcm16 as noise.
    !isLegacy && memberId !== speaker && hears?.language === language && hears.isVoiceWanted;

  return {
    members,
    readers,
    hold() {
      holds += 1;
      return () => {
        holds -= 1;
      };
    },
    isUsed: () => members.size + readers.size + holds > 0,
    enter(member) {
      members.set(member.memberId, member);
      away.delete(member.memberId);
      index.set(member.memberId, roomId);
    },
    detach(memberId) {
      if (members.delete(memberId)) away.add(memberId);
    },
    leave,
    keepAway(listed) {
      for (const memberId of away) if (!listed.has(memberId)) leave(memberId);
    },
    clear() {
      for (const memberId of [...members.keys(), ...away]) leave(memberId);
      readers.clear();
    },
    caption({ code }, caption) {
      // One object for all, so that the transport encodes it once.
      const output: RoomOutput = { kind: 'caption', code, caption };
      for (const { memberId, hears, isLegacy, link } of members.values()) {
        if (hears?.language !== caption.language || !hears.isCaptionWanted) continue;
        // A speaker has its own words as the outcome of its utterance. Legacy clients show every text for good.
        if (memberId !== caption.speaker && (caption.isFinal || !isLegacy)) link.sendRoom(output);
      }
      for (const { language, listen } of readers)
        if (language === caption.language) listen({ kind: 'caption', caption });
    },
    voice(output) {
      for (const member of members.values())
        if (wantsVoice(member, output.language, output.speaker)) sendVoice(member, output);
    },
    activity(output) {
      for (const { isLegacy, link } of members.values()) if (!isLegacy) link.sendRoom(output);
    },
    hasVoiceHearer: (language, except) =>
      [...members.values()].some((member) => wantsVoice(member, language, except)),
    changed(before, room) {
      const isListChanged = listOf(before) !== listOf(room);
      for (const { memberId, isLegacy, link } of members.values()) {
        const was = before.members.find((one) => one.memberId === memberId);
        const is = room.members.find((one) => one.memberId === memberId);
        if (isLegacy) {
          if (isListChanged) link.sendRoom({ kind: 'members', room, receiver: memberId });
        } else if (was !== undefined && is !== undefined && was.isMutedByHost !== is.isMutedByHost) {
          const code = is.isMutedByHost ? 'muted' : 'unmuted';
          link.sendRoom({ kind: 'notice', code: room.code, notice: { code } });
        }
      }
    },
    delta(before, room, languages) {
      const was = new Map(before.members.map((member) => [member.memberId, member]));
      const is = new Set(room.members.map(({ memberId }) => memberId));
      const output: RoomOutput = {
        kind: 'delta',
        room,
        members: room.members.filter((member) => !isSame(was.get(member.memberId), member)),
        left: before.members.map(({ memberId }) => memberId).filter((memberId) => !is.has(memberId)),
        languages,
      };
      for (const { isLegacy, link } of members.values()) if (!isLegacy) link.sendRoom(output);
    },
    audience() {
      const counts: Record<Language, { captions: number; voices: number }> = {};
      function add(language: Language, hasVoice: boolean): void {
        const count = counts[language] ?? { captions: 0, voices: 0 };
        counts[language] = { captions: count.captions + 1, voices: count.voices + (hasVoice ? 1 : 0) };
      }
      for (const { listed, hears } of members.values())
        if (listed === undefined && hears !== undefined) add(hears.language, hears.isVoiceWanted);
      for (const { language } of readers) add(language, false);
      return counts;
    },
  };
}

/** What legacy clients see of the members. */
const listOf = ({ members, silentPairs }: RoomRecord): string =>
  JSON.stringify([
    members.map(({ memberId, name, joinNumber }) => [memberId, name, joinNumber]),
    silentPairs,
  ]);

const isSame = (one: RoomMember | undefined, other: RoomMember): boolean =>
  one !== undefined && JSON.stringify(one) === JSON.stringify(other);
