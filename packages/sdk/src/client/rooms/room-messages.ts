/** Reads and builds single parts of room messages. Pure. */
import type { Hears } from '@lingua/protocol';
import { decodeBase64 } from '../base64.ts';
import { asCount, asText, type ServerFrame } from '../read-frame.ts';
import type { Hearing, JoinOptions, Person, RoomEvents } from './room.ts';

export const hears = (wish: Hearing): Hears => ({
  lang: wish.language,
  captions: wish.captions ?? true,
  voice: wish.voice ?? false,
  original: wish.original ?? 'duck',
});

export const entering = (wishes: Pick<JoinOptions, 'name' | 'speaks' | 'hears'>) => ({
  display_name: wishes.name,
  speaks: wishes.speaks,
  hears: wishes.hears && hears(wishes.hears),
});

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textsIn = (value: unknown): string[] => asList(value).filter((each) => typeof each === 'string');

/** `me`: the id of this session in the room. */
export const peopleIn = (value: unknown, me: string | undefined): Person[] =>
  asList(value).flatMap((each) => {
    const member = Object(each) as Record<string, unknown>;
    const id = asText(member.session_id);
    if (id === undefined) return [];
    return {
      id,
      name: asText(member.display_name),
      role: asText(member.role) ?? 'speaker',
      speaks: asText(member.speaks),
      hears: asText(member.hears),
      channel: asText(member.channel),
      isMuted: member.muted === true,
      isAway: member.away === true,
      isMe: id === me,
    };
  });

/** Undefined: it is invalid. */
export function captionIn(frame: ServerFrame): RoomEvents['caption'] | undefined {
  const seq = asCount(frame.room_seq);
  const language = asText(frame.lang);
  if (seq === undefined || language === undefined) return undefined;
  return {
    seq,
    speaker: asText(frame.speaker) ?? '',
    speakerName: asText(frame.speaker_name),
    language,
    text: asText(frame.text) ?? '',
    textLanguage: asText(frame.text_lang) ?? language,
    isFinal: frame.final !== false,
    source: asText(frame.source),
    errorCode: asText(frame.error_code),
    startedAt: Number(frame.t0),
    endedAt: Number(frame.t1),
  };
}

export const voiceIn = (frame: ServerFrame): RoomEvents['voice'] => ({
  seq: asCount(frame.room_seq) ?? 0,
  speaker: asText(frame.speaker) ?? '',
  language: asText(frame.lang) ?? '',
  audio: decodeBase64(asText(frame.tts_audio) ?? '') ?? new Uint8Array(0),
  format: asText(frame.tts_format) ?? '',
});
