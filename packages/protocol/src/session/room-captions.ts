/** Rooms, for clients that send `supports`: captions and speech, per language in the order of room_seq. */
import type { Static } from 'typebox';
import {
  anyOf,
  base64,
  count,
  flag,
  id,
  label,
  language,
  optional,
  quantity,
  text,
} from '../shared/bounded.ts';
import { extensionMessage } from '../shared/message.ts';
import { roomCode } from './rooms.ts';

export const RoomCaption = extensionMessage(
  'room_caption',
  'What was said, in the language that the member hears. One per utterance and language; if it is not final, one more that replaces it',
  {
    room_code: roomCode,
    room_seq: count('Number of the utterance in the room'),
    speaker: id('Session id of the member who said it'),
    speaker_name: optional(label('Its name')),
    lang: language('Language that the receiver hears'),
    rev: count('0, or 1 for the correction of a caption that came before its translation'),
    final: flag('No correction follows'),
    text: text('Translation; without one, the source text'),
    text_lang: language('Language of `text`: `lang`, or that of the source text'),
    error_code: optional(label('Why there is no translation')),
    source: optional(text('The source text, if `text` is a translation')),
    source_lang: optional(language('Language that was spoken')),
    t0: quantity('When the speaker began (epoch ms)'),
    t1: quantity('When the speaker ended (epoch ms)'),
  },
);
export type RoomCaption = Static<typeof RoomCaption>;

export const RoomVoice = extensionMessage(
  'room_voice',
  'The spoken translation, for members that want it. Not for captions that were corrected',
  {
    room_code: roomCode,
    room_seq: count('Number of the utterance in the room'),
    speaker: id('Session id of the member who said it'),
    lang: language('Language'),
    tts_audio: base64('Speech'),
    tts_format: label('As in translation_result'),
  },
);
export type RoomVoice = Static<typeof RoomVoice>;

export const RoomNotice = extensionMessage('room_notice', 'Something that the user should know', {
  room_code: roomCode,
  code: anyOf(
    ['missed', 'voice_paused', 'voice_resumed', 'muted', 'unmuted', 'removed'],
    'missed: the captions from `from` to `to` are not kept any more. voice_paused, voice_resumed: the connection is too slow for speech in `lang`, or fast enough again. muted, unmuted, removed: by a host',
  ),
  lang: optional(language('Language')),
  from: optional(count('First room_seq')),
  to: optional(count('Last room_seq')),
});
export type RoomNotice = Static<typeof RoomNotice>;
