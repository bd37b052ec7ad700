/**
 * Room mode: several sessions that hear one another. Declared, so that messages of legacy clients are recognised; not
 * supported yet.
 */
import { type Static, Type } from 'typebox';
import { anyOf, anything, flag, id, label, list, map, measure, optional, text } from '../shared/bounded.ts';
import { message } from '../shared/message.ts';

const roomCode = label('Code of the room');
const member = {
  display_name: optional(label('Name shown to others')),
  preferred_lang: optional(label('Language the member wants to hear')),
};

export const RoomCreate = message('room_create', 'Opens a room; the sender is its first member', {
  client_ts: measure('Clock of the client (epoch ms)'),
  ...member,
});
export type RoomCreate = Static<typeof RoomCreate>;

export const RoomJoin = message('room_join', 'Enters a room', { room_code: roomCode, ...member });
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
    ['ROOM_NOT_FOUND', 'ALREADY_IN_ROOM', 'ROOM_FULL', 'INVALID_ROOM_CODE', 'INTERNAL_ERROR'],
    'Error code',
  ),
  message: optional(text('Text for people')),
});
export type RoomError = Static<typeof RoomError>;

export const RoomExpired = message('room_expired', 'The room was closed because no member spoke', {
  room_code: roomCode,
  message: text('Text for people'),
});
export type RoomExpired = Static<typeof RoomExpired>;
