/** The room object of an application, and its events. A room outlives the connections of its session. */
import type { RoomNotice } from '@lingua/protocol';
import type { Original, OriginalElement } from './originals.ts';

export type RoomRole = 'host' | 'speaker' | 'interpreter' | 'listener';

export interface Hearing {
  /** The language that you want, such as `es`. */
  readonly language: string;
  /** Default true. */
  readonly captions?: boolean | undefined;
  /** The spoken translation; default false. */
  readonly voice?: boolean | undefined;
  /** The speakers' own voices; default `duck`: quieter while a translation is heard. */
  readonly original?: Original | undefined;
}

export interface JoinOptions {
  /** Shown to others. */
  readonly name?: string | undefined;
  /** Default: that of the token, otherwise `speaker`. */
  readonly role?: RoomRole | undefined;
  /** Default: `srcLang` of the session. */
  readonly speaks?: string | undefined;
  /** Default: captions in `tgtLang` of the session. */
  readonly hears?: Hearing | undefined;
  /** For interpreters: the language that you speak into. */
  readonly channel?: string | undefined;
}

export interface CreateOptions extends Pick<JoinOptions, 'name' | 'speaks' | 'hears'> {
  readonly title?: string | undefined;
  /** Texts are kept as a transcript; every member is informed. Default false. */
  readonly recorded?: boolean | undefined;
  /** Languages that are translated although no member hears them. */
  readonly languages?: readonly string[] | undefined;
}

export interface Person {
  readonly id: string;
  readonly name: string | undefined;
  readonly role: RoomRole | (string & {});
  readonly speaks: string | undefined;
  readonly hears: string | undefined;
  readonly channel: string | undefined;
  readonly isMuted: boolean;
  /** The connection is gone; the person may come back. */
  readonly isAway: boolean;
  readonly isMe: boolean;
}

export interface RoomEvents {
  /** People, languages or settings of the room are others now; read them from the room. */
  changed: object;
  /** What somebody said, in the language that you hear; in the order in which it was said. */
  caption: {
    readonly seq: number;
    readonly speaker: string;
    readonly speakerName: string | undefined;
    readonly language: string;
    readonly text: string;
    /** Language of `text`: `language`, or that of the speaker while there is no translation. */
    readonly textLanguage: string;
    /** False: the translation follows, as another caption with the same `seq`. */
    readonly isFinal: boolean;
    /** What was said, if `text` is a translation. */
    readonly source: string | undefined;
    /** Why there is no translation. */
    readonly errorCode: string | undefined;
    /** When it was said (epoch ms). */
    readonly startedAt: number;
    readonly endedAt: number;
  };
  /** The spoken translation; tell `room.playing` while it is heard. */
  voice: {
    readonly seq: number;
    readonly speaker: string;
    readonly language: string;
    readonly audio: Uint8Array;
    /** As in the event `result` of a session. */
    readonly format: string;
  };
  /** Ids of those who speak now. */
  speaking: { readonly ids: readonly string[] };
  notice: {
    readonly code: RoomNotice['code'];
    readonly language: string | undefined;
    /** For `missed`: these captions are not kept any more. */
    readonly from: number | undefined;
    readonly to: number | undefined;
  };
  /** WebRTC signalling of another member. */
  signal: { readonly from: string; readonly kind: SignalKind; readonly body: unknown };
  /** What you asked for was refused. */
  error: { readonly code: string; readonly message: string };
  /** The last event. `reason`: `left`, `ended`, `closed` (the session), or the code of an error. */
  ended: { readonly reason: string; readonly message: string };
}

export type SignalKind = 'offer' | 'answer' | 'ice';
export type RoomEventName = keyof RoomEvents;
export type RoomListener<Name extends RoomEventName> = (event: RoomEvents[Name]) => void;

export interface Room {
  readonly code: string;
  readonly id: string | undefined;
  readonly title: string | undefined;
  /** Texts are kept as a transcript. */
  readonly isRecorded: boolean;
  readonly isLocked: boolean;
  readonly people: readonly Person[];
  /** Listeners that are counted and not listed. */
  readonly listeners: number;
  /** The languages that are heard → ok, degraded or unavailable. */
  readonly languages: Readonly<Record<string, string>>;
  /** From the next utterance on. */
  hear(wish: Hearing): void;
  /** Changes the language that you speak; audio is sent with the session. */
  speak(language: string): void;
  mute(isMuted?: boolean): void;
  /** For hosts. */
  readonly moderate: {
    mute(id: string): void;
    unmute(id: string): void;
    remove(id: string): void;
    setRole(id: string, role: RoomRole): void;
    lock(isLocked?: boolean): void;
    setLanguages(languages: readonly string[]): void;
    end(): void;
  };
  /** The element in which the own voice of a speaker is played; returns a function that releases it. */
  addOriginal(element: OriginalElement): () => void;
  /** A spoken translation begins or ends to be heard: meanwhile originals are ducked. */
  playing(isPlaying: boolean): void;
  signal(to: string, kind: SignalKind, body: unknown): void;
  leave(): void;
  /** Returns a function that removes the listener. */
  on<Name extends RoomEventName>(name: Name, listener: RoomListener<Name>): () => void;
}

export interface Rooms {
  /** Opens a room and enters it as its host. Rejects with RoomRefused. */
  create(options?: CreateOptions): Promise<Room>;
  /** Enters a room; after a lost connection it is entered again, and missed captions follow. Rejects with RoomRefused. */
  join(code: string, options?: JoinOptions): Promise<Room>;
}

export class RoomRefused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'RoomRefused';
    this.code = code;
  }
}
