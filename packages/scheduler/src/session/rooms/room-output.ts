/** Vocabulary of rooms: the messages to a member. The transport encodes each once, however many members get it. */
import type { Language } from '../../domain/language.ts';
import type { MemberId, RoomMember, RoomRecord } from '../../domain/room.ts';
import type { Caption } from './room-service.ts';

export type LanguageState = 'ok' | 'degraded' | 'unavailable';

/** `missed`: the log does not have these utterances any more. `voice_paused`: the listener is too far behind and gets captions alone. */
export type RoomNotice =
  | { readonly code: 'missed'; readonly from: number; readonly to: number }
  | { readonly code: 'voice_paused' | 'voice_resumed'; readonly language: Language }
  | { readonly code: 'muted' | 'unmuted' | 'removed' };

export type RoomOutput =
  | { readonly kind: 'entered'; readonly room: RoomRecord }
  /** For legacy members: the list as this receiver sees it. */
  | { readonly kind: 'members'; readonly room: RoomRecord; readonly receiver: MemberId }
  | {
      readonly kind: 'state';
      readonly room: RoomRecord;
      readonly receiver: MemberId;
      readonly languages: Readonly<Record<Language, LanguageState>>;
      /** Number of the last utterance. */
      readonly seq: number;
    }
  | {
      readonly kind: 'delta';
      readonly room: RoomRecord;
      /** Joined or changed. */
      readonly members: readonly RoomMember[];
      readonly left: readonly MemberId[];
      readonly languages: Readonly<Record<Language, LanguageState>>;
    }
  | { readonly kind: 'caption'; readonly code: string; readonly caption: Caption }
  | {
      readonly kind: 'voice';
      readonly code: string;
      readonly seq: number;
      readonly speaker: MemberId;
      readonly language: Language;
      /** Base64. */
      readonly audio: string;
      readonly format: string;
    }
  | { readonly kind: 'activity'; readonly code: string; readonly speaking: readonly MemberId[] }
  | { readonly kind: 'notice'; readonly code: string; readonly notice: RoomNotice }
  | {
      readonly kind: 'signal';
      readonly code: string;
      readonly signal: 'offer' | 'answer' | 'ice';
      readonly from: MemberId;
      readonly body: unknown;
    }
  | { readonly kind: 'expired'; readonly code: string; readonly message: string };

/** The connection of a member. */
export interface RoomLink {
  sendRoom(output: RoomOutput): void;
  /** Bytes that wait in the connection. */
  unsentBytes?(): number;
}
