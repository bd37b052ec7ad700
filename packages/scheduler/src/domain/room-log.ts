/**
 * Vocabulary: the log of a room. An utterance is accepted and gets its number in the room; its text and the languages it is promised in are
 * written once; then each promised language gets one outcome. Pure.
 */
import type { JobId } from './ids.ts';
import type { Language } from './language.ts';
import type { PlanRequest, WantedTarget } from './plan.ts';
import type { MemberId } from './room.ts';

/** What another driver needs to continue the utterance; its audio is not part of it. */
export type SavedPlan = Pick<
  PlanRequest,
  'sessionId' | 'name' | 'fingerprint' | 'source' | 'spec' | 'need' | 'deadlineAt' | 'waitMs'
>;

/** The plan of one utterance: whose words it has, and when they were said. */
export interface AcceptedUtterance {
  /** The same for a repeat of the utterance. */
  readonly utterance: string;
  readonly speaker: MemberId;
  readonly speakerName?: string | undefined;
  /** Or `auto`. */
  readonly source: Language;
  /** Of an interpreter: the utterance is said in this language and is not translated. */
  readonly channel?: Language | undefined;
  readonly startedAt: number;
  readonly acceptedAt: number;
  /** "instance/incarnation". */
  readonly driver: string;
  readonly plan: SavedPlan;
  /** No node recognises without translating: each language is one whole job, and the languages are promised now. */
  readonly promised?: readonly WantedTarget[] | undefined;
}

/** What a member said in a room. */
export interface Said {
  readonly speaker: MemberId;
  /** Of AcceptedUtterance. Absent: all that it said. */
  readonly utterance?: string | undefined;
}

/** The name of an utterance in the log of its room: the session that spoke, and the name of its plan. */
export const utteranceOf = (sessionId: MemberId, planName: string): string => `${sessionId} ${planName}`;

export type RoomOutcome =
  | { readonly kind: 'final'; readonly text: string }
  /** Listeners get the source text. */
  | { readonly kind: 'failed'; readonly code: string }
  /** The language was not heard any more. */
  | { readonly kind: 'void' };

/** What the driver of an utterance appends, by the number of the utterance. */
export type RoomEntry =
  /** Another driver continues the utterance of a dead one. Of several, the first one stands. */
  | { readonly kind: 'drive'; readonly seq: number; readonly driver: string; readonly from: string }
  /** Recognised. Empty: there was no speech, or `failed` says why there is no text. */
  | {
      readonly kind: 'text';
      readonly seq: number;
      readonly text: string;
      readonly language: Language;
      readonly promised: readonly WantedTarget[];
      readonly failed?: string | undefined;
    }
  | {
      readonly kind: 'outcome';
      readonly seq: number;
      readonly language: Language;
      readonly outcome: RoomOutcome;
    }
  /** Later renditions do not wait for this one any more. Without a language: nor for any of this utterance, which has no text yet. */
  | { readonly kind: 'late'; readonly seq: number; readonly language?: Language | undefined }
  /** The speech is in the result of this job. */
  | { readonly kind: 'voice'; readonly seq: number; readonly language: Language; readonly jobId: JobId };

export type NumberedAccept = { readonly kind: 'accept'; readonly seq: number } & AcceptedUtterance;

export type LoggedEntry =
  | RoomEntry
  | NumberedAccept
  /** The texts of its speaker were erased. */
  | { readonly kind: 'erased'; readonly seq: number };

export interface LogLine {
  /** In the log: from 1, without gaps except after a failover. */
  readonly position: number;
  readonly at: number;
  readonly entry: LoggedEntry;
}

/** Of entries with the same key only the first is kept. */
export function entryKey(entry: RoomEntry | NumberedAccept): string {
  switch (entry.kind) {
    case 'accept':
      return utteranceKey(entry.utterance);
    case 'drive':
      return `drive/${entry.seq}/${entry.from}`;
    case 'text':
      return `text/${entry.seq}`;
    case 'late':
      return `late/${entry.seq}/${entry.language ?? ''}`;
    default:
      return `${entry.kind}/${entry.seq}/${entry.language}`;
  }
}

/** The key of the entry after which this one is pointless and is not appended. */
export const obsoleteAfter = (entry: RoomEntry | NumberedAccept): string | undefined =>
  entry.kind !== 'late'
    ? undefined
    : entry.language === undefined
      ? `text/${entry.seq}`
      : `outcome/${entry.seq}/${entry.language}`;

export const utteranceKey = (utterance: string): string => `accept/${utterance}`;
