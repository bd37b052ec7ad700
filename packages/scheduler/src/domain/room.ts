/** Vocabulary: a room, its members, their roles, and what they hear. Pure. */
import type { SessionId, TenantId } from './ids.ts';
import type { Language } from './language.ts';

export type RoomId = string;
/** The session of the member. */
export type MemberId = SessionId;

/** `host`: may moderate. `interpreter`: speaks into a language, its channel. */
export const ROOM_ROLES = ['host', 'speaker', 'interpreter', 'listener'] as const;
export type RoomRole = (typeof ROOM_ROLES)[number];

/** The speaker's own voice under the translation; the client mixes it. */
export const ORIGINALS = ['off', 'duck', 'full'] as const;

export interface Hears {
  readonly language: Language;
  readonly isCaptionWanted: boolean;
  readonly isVoiceWanted: boolean;
  readonly original: (typeof ORIGINALS)[number];
}

export interface RoomMember {
  readonly memberId: MemberId;
  readonly name?: string | undefined;
  readonly role: RoomRole;
  /** Or `auto`. Absent: it never speaks. */
  readonly speaks?: Language | undefined;
  /** Absent: it hears nothing, for example a microphone on the stage. */
  readonly hears?: Hears | undefined;
  /** An interpreter's utterances are said in this language and are not translated. */
  readonly channel?: Language | undefined;
  readonly isMuted: boolean;
  /** Only a host can unmute it. */
  readonly isMutedByHost?: boolean | undefined;
  /** Its client knows only the messages of the deployed web client. */
  readonly isLegacy: boolean;
  /** "instance/incarnation" that has its connection, or had it last. */
  readonly follower: string;
  /** New with each join: a former connection of the member changes nothing any more. */
  readonly joinId: string;
  readonly joinedAt: number;
  /** Grows with each join of the room: of two members, the one with the higher number joined later. */
  readonly joinNumber: number;
  /** Its connection is gone; it counts as hearing until the resume time has passed. */
  readonly awaySince?: number | undefined;
}

/** Hearers that are counted and not listed, by follower and language: listeners of a large room, and readers of captions over HTTP. */
export interface Audience {
  readonly captions: number;
  readonly voices: number;
}

export interface RoomRecord {
  readonly roomId: RoomId;
  readonly tenantId: TenantId;
  readonly code: string;
  /** From 1; grows by one with each change. */
  readonly version: number;
  /** Names the change that made this version, so that a repeated save is recognised. */
  readonly changeId: string;
  readonly createdAt: number;
  readonly title?: string | undefined;
  /** The log is kept as a transcript; every member is informed when it joins. */
  readonly isRecorded: boolean;
  /** No further member may join. */
  readonly isLocked: boolean;
  /** Languages that count as heard, although no member hears them. */
  readonly fixedLanguages: readonly Language[];
  /** In the order of joining. */
  readonly members: readonly RoomMember[];
  readonly joins: number;
  /** Follower → language → hearers that are not listed. */
  readonly audiences: Readonly<Record<string, Readonly<Record<Language, Audience>>>>;
  /** Pairs of members that do not hear each other's own voice: "id id", the lower id first. */
  readonly silentPairs: readonly string[];
  /** Removed by a host: they cannot join again. */
  readonly removed: readonly MemberId[];
  /** When a member joined or an utterance was accepted, as far as it was noted. */
  readonly activeAt: number;
  readonly endedAt?: number | undefined;
}

export const ROOM_REFUSALS = [
  'ROOM_NOT_FOUND',
  'ALREADY_IN_ROOM',
  'NOT_IN_ROOM',
  'ROOM_FULL',
  'ROOM_LOCKED',
  'INVALID_ROOM_CODE',
  'LANGUAGE_UNAVAILABLE',
  'FORBIDDEN',
  'RATE_LIMITED',
  'SCHEDULER_DEPENDENCY_DOWN',
  'INTERNAL_ERROR',
] as const;
export type RoomRefusalCode = (typeof ROOM_REFUSALS)[number];

export interface RoomRefusal {
  readonly kind: 'refused';
  readonly code: RoomRefusalCode;
  /** Names the cause and the fix. */
  readonly message: string;
  readonly field?: string | undefined;
}

export interface RoomLimits {
  readonly maxPerTenant: number;
  readonly maxMembers: number;
  /** Members that may speak. */
  readonly maxSpeakers: number;
  /** Languages of one utterance. */
  readonly maxLanguages: number;
  /** Above this number of members, listeners are counted and not listed. */
  readonly maxListed: number;
  /** Utterances of one speaker without an outcome. */
  readonly maxOpenUtterances: number;
  /** A finished rendition waits this long for an open one before it. */
  readonly reorderMs: number;
  /** A language without hearers for this long is not served any more. */
  readonly unheardMs: number;
  /** After this long without an utterance and without a join the room ends. */
  readonly idleMs: number;
  /** A member without a connection stays for this long. */
  readonly awayMs: number;
  /** After an interpreter's last utterance, for its channel. */
  readonly interpreterMs: number;
  /** No recording, no transcript, and nothing of what was said before a member joined. Absent: all of it. */
  readonly keepsNoTexts?: boolean;
}

export const pairOf = (one: MemberId, other: MemberId): string => [one, other].sort().join(' ');

export const mayModerate = ({ role }: Pick<RoomMember, 'role'>): boolean => role === 'host';

export const maySpeak = ({ role, isMuted, speaks }: RoomMember): boolean =>
  role !== 'listener' && !isMuted && speaks !== undefined;
