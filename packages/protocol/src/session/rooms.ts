/**
 * Rooms, as the deployed web client knows them: several sessions that hear one another. What other clients send and get besides is in
 * `room-captions.ts` and `room-members.ts`.
 */
import { type Static, Type } from 'typebox';
import {
  anyOf,
  anything,
  count,
  extension,
  flag,
  id,
  label,
  language,
  list,
  map,
  measure,
  oneOf,
  optional,
  text,
} from '../shared/bounded.ts';
import { message } from '../shared/message.ts';

export const roomCode = label('Code of the room');
const member = {
  display_name: optional(label('Name shown to others')),
  preferred_lang: optional(
    label('Language the member wants to hear; absent: the tgt_lang of its session_init'),
  ),
};

export const ROOM_ROLES = ['host', 'speaker', 'interpreter', 'listener'] as const;

export const Hears = Type.Object(
  {
    lang: language('Language that the member wants; absent languages are not translated for it'),
    captions: optional(flag('Whether it wants captions; absent: yes')),
    voice: optional(flag('Whether it wants the spoken translation; absent: no')),
    original: optional(
      oneOf(['off', 'duck', 'full'], "The speakers' own voices; absent: duck. Mixed by the client"),
    ),
  },
  { title: 'Hears', description: 'What a member of a room hears' },
);
export type Hears = Static<typeof Hears>;

/** A client that sends `supports` gets room_state, room_caption and so on; to the others results arrive as translation_result. */
export const memberWishes = {
  speaks: extension(
    language('Language that the member speaks, or `auto`; absent: the src_lang of its session_init'),
  ),
  hears: extension(Hears),
};

/** Languages that one room may fix. */
export const MAX_ROOM_LANGUAGES = 64;

export const RoomCreate = message(
  'room_create',
  'Opens a room; the sender is its first member and its host',
  {
    client_ts: measure('Clock of the client (epoch ms)'),
    ...member,
    ...memberWishes,
    title: extension(label('Title of the room')),
    recorded: extension(
      flag('The texts are kept as a transcript; every member is informed when it joins. Absent: no'),
    ),
    languages: extension(
      list(
        language('Language'),
        MAX_ROOM_LANGUAGES,
        'Languages that are translated although no member hears them, for example for the transcript',
      ),
    ),
  },
);
export type RoomCreate = Static<typeof RoomCreate>;

export const RoomJoin = message('room_join', 'Enters a room, or resumes in it after a lost connection', {
  room_code: roomCode,
  ...member,
  ...memberWishes,
  role: extension(
    oneOf(
      ROOM_ROLES,
      'Wanted role; absent: that of the token, otherwise speaker. With the code alone a client can be speaker or listener; a host can make it more, or a token',
    ),
  ),
  channel: extension(language('Of an interpreter: the language that it speaks into; absent: `speaks`')),
  after_seq: extension(
    count(
      'room_seq of the last caption that the client has; the later ones follow. Absent: the last 50 follow',
    ),
  ),
});
export type RoomJoin = Static<typeof RoomJoin>;

export const RoomLeave = message('room_leave', 'Leaves a room', { room_code: roomCode });
export type RoomLeave = Static<typeof RoomLeave>;

export const RoomRawVoicePreference = message(
  'room_raw_voice_preference',
  'Whether to hear a member’s own voice',
  {
    room_code: roomCode,
    target_session_id: id('The other member'),
    receive_raw_voice: flag('True to hear it'),
  },
);
export type RoomRawVoicePreference = Static<typeof RoomRawVoicePreference>;

const peer = { room_code: roomCode, to: id('Receiver; in a relayed message the sender') };

export const WebrtcOffer = message('webrtc_offer', 'Relayed to a member', {
  ...peer,
  sdp: anything('Session description'),
});
export type WebrtcOffer = Static<typeof WebrtcOffer>;

export const WebrtcAnswer = message('webrtc_answer', 'Relayed to a member', {
  ...peer,
  sdp: anything('Session description'),
});
export type WebrtcAnswer = Static<typeof WebrtcAnswer>;

/** A null candidate ends the candidates; on input null means absent. */
export const WebrtcIce = message('webrtc_ice', 'Relayed to a member', {
  ...peer,
  candidate: optional(anything('ICE candidate; absent at the end of candidates')),
});
export type WebrtcIce = Static<typeof WebrtcIce>;

export const RoomCreateAck = message('room_create_ack', 'The room is open', {
  room_code: roomCode,
  room_id: optional(id('Id of the room')),
});
export type RoomCreateAck = Static<typeof RoomCreateAck>;

export const Participant = Type.Object(
  {
    participant_id: id('Id of the member'),
    session_id: id('Session of the member'),
    ...member,
    raw_voice_preferences: optional(
      map<boolean>(
        flag('True to hear it'),
        1024,
        'Session id to whether its own voice is heard; true if missing',
      ),
    ),
    joined_at: label('When (RFC 3339)'),
  },
  { title: 'Participant', description: 'A member of a room' },
);
export type Participant = Static<typeof Participant>;

export const RoomMembers = message('room_members', 'Who is in the room', {
  room_code: roomCode,
  members: list(Participant, 1024, 'Members'),
});
export type RoomMembers = Static<typeof RoomMembers>;

export const RoomError = message('room_error', 'A room message could not be served', {
  code: anyOf(
    [
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
    ],
    'Error code',
  ),
  message: optional(text('Text for people')),
});
export type RoomError = Static<typeof RoomError>;

export const RoomExpired = message(
  'room_expired',
  'The room has ended, because no member spoke or by a host',
  {
    room_code: roomCode,
    message: text('Text for people'),
  },
);
export type RoomExpired = Static<typeof RoomExpired>;
