/** Rooms, for clients that send `supports`: who is in the room, and what a member or a host changes. */
import { type Static, Type } from 'typebox';
import {
  anyOf,
  count,
  flag,
  id,
  label,
  language,
  list,
  map,
  oneOf,
  optional,
  quantity,
} from '../shared/bounded.ts';
import { extensionMessage } from '../shared/message.ts';
import { Hears, MAX_ROOM_LANGUAGES, ROOM_ROLES, roomCode } from './rooms.ts';

export const RoomUpdate = extensionMessage(
  'room_update',
  'Changes what the member hears or speaks, from the next utterance on. A language that no node can serve is refused by room_error LANGUAGE_UNAVAILABLE',
  {
    room_code: roomCode,
    hears: optional(Hears),
    speaks: optional(language('Language, or `auto`')),
    muted: optional(
      flag('The member mutes itself; a host can mute it, too, and then only a host can undo it'),
    ),
  },
);
export type RoomUpdate = Static<typeof RoomUpdate>;

export const RoomModerate = extensionMessage('room_moderate', 'A host changes the room or a member', {
  room_code: roomCode,
  action: oneOf(
    ['mute', 'unmute', 'remove', 'role', 'lock', 'unlock', 'languages', 'end'],
    'mute, unmute, remove, role: of `member`. lock: no further member may join. languages: which ones are always translated. end: for all',
  ),
  member: optional(id('Session id of the member')),
  role: optional(oneOf(ROOM_ROLES, 'For action role')),
  languages: optional(list(language('Language'), MAX_ROOM_LANGUAGES, 'For action languages')),
});
export type RoomModerate = Static<typeof RoomModerate>;

export const RoomMember = Type.Object(
  {
    session_id: id('Session of the member'),
    display_name: optional(label('Name shown to others')),
    role: anyOf(ROOM_ROLES, 'Role'),
    speaks: optional(language('Language, or `auto`; absent: the member does not speak')),
    hears: optional(language('Language that it hears; absent: none')),
    channel: optional(language('Of an interpreter: the language that it speaks into')),
    muted: optional(flag('Its speech is not accepted')),
    away: optional(flag('Its connection is gone; it may come back')),
    joined_at_ms: quantity('When (epoch ms)'),
  },
  { title: 'RoomMember', description: 'A member of a room' },
);
export type RoomMember = Static<typeof RoomMember>;

const LANGUAGE_STATES = ['ok', 'degraded', 'unavailable'] as const;

const shared = {
  room_code: roomCode,
  version: count('Grows with each change of the members; a delta follows the version before it'),
  listeners: count('Listeners that are counted and not listed'),
  languages: map<string>(
    anyOf(
      LANGUAGE_STATES,
      'ok; degraded: some speakers cannot be translated into it now; unavailable: none can',
    ),
    MAX_ROOM_LANGUAGES,
    'The languages that are heard',
  ),
  locked: flag('No further member may join'),
};

export const RoomState = extensionMessage('room_state', 'The room, after joining', {
  ...shared,
  room_id: id('Id of the room'),
  title: optional(label('Title')),
  session_id: id('The receiver, as it is named in `members`'),
  room_seq: count('Number of the last utterance'),
  recorded: flag('Texts are kept as a transcript'),
  members: list(RoomMember, 1024, 'Members, except listeners that are only counted'),
});
export type RoomState = Static<typeof RoomState>;

export const RoomDelta = extensionMessage(
  'room_delta',
  'What changed since the last room_state or room_delta; at most once a second',
  {
    ...shared,
    members: list(RoomMember, 1024, 'Members that joined or changed'),
    left: list(id('Session id'), 1024, 'Members that left'),
  },
);
export type RoomDelta = Static<typeof RoomDelta>;

export const RoomActivity = extensionMessage('room_activity', 'Who speaks now', {
  room_code: roomCode,
  speaking: list(id('Session id'), 64, 'Members whose audio arrives'),
});
export type RoomActivity = Static<typeof RoomActivity>;
