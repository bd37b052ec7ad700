/** Hot path: the interface of rooms to the rest of the program: `RoomService` for people and programs over HTTP, `RoomMembers` for the sockets of sessions. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import type { Hears, MemberId, RoomId, RoomRecord, RoomRefusal, RoomRole } from '../../domain/room.ts';
import type { Said } from '../../domain/room-log.ts';
import type { RoomLink } from './room-output.ts';

export type RoomResult<T> = ({ readonly kind: 'done' } & T) | RoomRefusal;

/** What a host may change. */
export interface RoomSettings {
  readonly title?: string | undefined;
  readonly isRecorded?: boolean | undefined;
  readonly isLocked?: boolean | undefined;
  readonly fixedLanguages?: readonly Language[] | undefined;
}

export interface CreateRoom {
  readonly tenantId: TenantId;
  readonly settings: RoomSettings;
  /** Six digits, for the deployed web client; refused unless the settings of the scheduler allow it. */
  readonly hasDigitCode?: boolean | undefined;
}

/** One utterance in one language, as listeners have it now. */
export interface Caption {
  readonly seq: number;
  readonly speaker: MemberId;
  readonly speakerName: string | undefined;
  readonly language: Language;
  /** 0: the first caption of this utterance and language; then 1: its correction. */
  readonly revision: number;
  /** `text` is the translation, or was said in this language. Otherwise it is the source text. */
  readonly isTranslated: boolean;
  /** No further caption follows for this utterance and language. */
  readonly isFinal: boolean;
  /** Why there is no translation. */
  readonly failed: string | undefined;
  readonly text: string;
  readonly source: { readonly language: Language; readonly text: string } | undefined;
  /** When it was said (epoch ms). */
  readonly startedAt: number;
  readonly endedAt: number;
}

export type CaptionEvent =
  | { readonly kind: 'caption'; readonly caption: Caption }
  /** These utterances are not in the log any more. */
  | { readonly kind: 'missed'; readonly from: number; readonly to: number }
  /** The last event. */
  | { readonly kind: 'ended'; readonly reason: RoomEnd };

/** `expired`: nothing was said for too long. `fenced`: this instance may serve nobody any more; the reader asks another one. */
export type RoomEnd = 'ended' | 'expired' | 'fenced';

/** How the end of a room is saved. */
export type SavedEnd = Exclude<RoomEnd, 'fenced'>;

export interface TranscriptPage {
  /** In the order of `seq`. An utterance whose language was not promised is in its source language, `isTranslated` false. */
  readonly captions: readonly Caption[];
  /** Pass it as `afterSeq`. Absent: this is the last page. */
  readonly nextSeq?: number | undefined;
  /** Utterances before this one were trimmed. */
  readonly firstSeq: number;
}

/** Every call names the tenant; a room of another tenant is ROOM_NOT_FOUND (R6). */
export interface RoomService {
  create(order: CreateRoom): Promise<RoomResult<{ readonly room: RoomRecord }>>;
  /** By its id or its code. `guesser`: the address of somebody who may not list the rooms: wrong names count as wrong codes. */
  find(
    tenantId: TenantId,
    name: string,
    guesser?: string,
  ): Promise<RoomResult<{ readonly room: RoomRecord }>>;
  list(tenantId: TenantId): Promise<RoomResult<{ readonly rooms: readonly RoomRecord[] }>>;
  change(
    tenantId: TenantId,
    roomId: RoomId,
    settings: RoomSettings,
  ): Promise<RoomResult<{ readonly room: RoomRecord }>>;
  /** Every member gets the end. A recorded log is kept for its retention, another one is removed. */
  end(tenantId: TenantId, roomId: RoomId): Promise<RoomResult<object>>;
  /**
   * Captions of one language in the order of `seq`, first those after `afterSeq` (absent: the last 50). The reader counts as hearing the
   * language until it stops. Its events come after this resolved.
   */
  captions(
    order: {
      readonly tenantId: TenantId;
      readonly roomId: RoomId;
      readonly language: Language;
      readonly afterSeq?: number | undefined;
    },
    listen: (event: CaptionEvent) => void,
  ): Promise<RoomResult<{ readonly stop: () => void }>>;
  /** Also of a room that has ended, if it was recorded. */
  transcript(order: {
    readonly tenantId: TenantId;
    readonly roomId: RoomId;
    readonly language: Language;
    readonly afterSeq: number;
    readonly limit: number;
  }): Promise<RoomResult<TranscriptPage>>;
  /** What this member said is removed from the log. */
  eraseMember(
    tenantId: TenantId,
    roomId: RoomId,
    memberId: MemberId,
  ): Promise<RoomResult<{ readonly utterances: number }>>;
  /** What a session said is removed from the logs of all rooms of the tenant, also of recorded ones that have ended. */
  eraseSaid(tenantId: TenantId, said: Said): Promise<RoomResult<{ readonly utterances: number }>>;
  /** Calls `listen` on the instance that ended the room, once per room. */
  onEnded(listen: (room: RoomRecord, reason: SavedEnd) => void): void;
}

export interface JoinRoom {
  /** What a credential grants beyond the code. */
  readonly grant?:
    | {
        /** The only room that it opens. */
        readonly roomId: RoomId;
        readonly role: RoomRole;
        readonly language?: Language | undefined;
      }
    | undefined;
  readonly code: string;
  readonly name?: string | undefined;
  readonly role?: RoomRole | undefined;
  readonly speaks?: Language | undefined;
  readonly hears?: Hears | undefined;
  readonly channel?: Language | undefined;
  /** The last utterance whose caption the client has. Absent: it gets the last 50. */
  readonly afterSeq?: number | undefined;
}

/** The session of a socket, as its session_init described it. */
export interface Attendee {
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  /** For the limit of wrong codes: of IPv6, the network. */
  readonly address: string;
  readonly isLegacy: boolean;
  readonly source: Language;
  readonly target: Language;
}

export type Moderation =
  | {
      readonly action: 'mute' | 'unmute' | 'remove';
      readonly memberId: MemberId;
    }
  | { readonly action: 'role'; readonly memberId: MemberId; readonly role: RoomRole }
  | { readonly action: 'lock' | 'unlock' | 'end' }
  | { readonly action: 'languages'; readonly languages: readonly Language[] };

/** WebRTC signalling between two members; the scheduler does not read `body`. */
export interface Signal {
  readonly kind: 'offer' | 'answer' | 'ice';
  readonly to: MemberId;
  readonly body: unknown;
}

/** Calls of one session come one after the other, in the order of its messages. Answers leave on the link; a refusal is returned. */
export interface RoomMembers {
  create(
    by: Attendee,
    order: Omit<JoinRoom, 'code' | 'grant' | 'afterSeq'> & { readonly settings: RoomSettings },
    link: RoomLink,
  ): Promise<RoomRefusal | undefined>;
  /** A member that joins again, perhaps on another instance or connection, resumes. */
  join(by: Attendee, order: JoinRoom, link: RoomLink): Promise<RoomRefusal | undefined>;
  /** A room that is gone is no refusal. */
  leave(sessionId: SessionId, code: string): Promise<RoomRefusal | undefined>;
  update(
    sessionId: SessionId,
    change: {
      readonly hears?: Hears | undefined;
      readonly speaks?: Language | undefined;
      readonly isMuted?: boolean | undefined;
    },
  ): Promise<RoomRefusal | undefined>;
  moderate(sessionId: SessionId, order: Moderation): Promise<RoomRefusal | undefined>;
  setRawVoice(
    sessionId: SessionId,
    code: string,
    other: MemberId,
    isWanted: boolean,
  ): Promise<RoomRefusal | undefined>;
  /** Dropped without an answer if the pair may not connect. */
  relay(sessionId: SessionId, code: string, signal: Signal): Promise<RoomRefusal | undefined>;
  /** The connection has ended. A legacy member leaves, others are away until they resume. */
  detached(sessionId: SessionId, link: RoomLink): void;
}
