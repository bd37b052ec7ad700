/** Rooms over HTTP: opening, reading, changing and ending one, and the tokens of its guests. */
import { type Static, Type } from 'typebox';
import { RoomMember } from '../../session/room-members.ts';
import { MAX_ROOM_LANGUAGES, ROOM_ROLES } from '../../session/rooms.ts';
import { count, flag, id, label, language, list, oneOf, optional, text } from '../../shared/bounded.ts';
import { DEFAULT_TOKEN_SECONDS, LONGEST_TOKEN_SECONDS } from '../tokens.ts';

const MOST_ROOMS = 10_000;

const tenant = { tenant_id: optional(id('Tenant; for callers that may act for several')) };

const title = label('Title of the room');
const recorded = flag('Texts are kept as a transcript; every member is informed when it joins');
const languages = list(
  language('Language'),
  MAX_ROOM_LANGUAGES,
  'Languages that are translated although no member hears them',
);

export const RoomPath = Type.Object(
  { id: id('Room: its id or its code') },
  { title: 'RoomPath', description: 'Names a room' },
);
export type RoomPath = Static<typeof RoomPath>;

export const RoomMemberPath = Type.Object(
  { id: id('Room: its id or its code'), member: id('Session id of a member, present or past') },
  { title: 'RoomMemberPath', description: 'Names a member of a room' },
);
export type RoomMemberPath = Static<typeof RoomMemberPath>;

export const RoomQuery = Type.Object(tenant, { title: 'RoomQuery', description: 'Whose room it is' });
export type RoomQuery = Static<typeof RoomQuery>;

export const RoomDraft = Type.Object(
  {
    ...tenant,
    title: optional(title),
    recorded: optional(recorded),
    languages: optional(languages),
    digit_code: optional(
      flag(
        'The code has six digits, as the deployed web client needs it; refused unless the scheduler allows such codes',
      ),
    ),
  },
  { title: 'RoomDraft', description: 'Opens a room without members' },
);
export type RoomDraft = Static<typeof RoomDraft>;

export const RoomChange = Type.Object(
  {
    title: optional(title),
    recorded: optional(recorded),
    locked: optional(flag('No further member may join')),
    languages: optional(languages),
  },
  { title: 'RoomChange', description: 'What is named is changed' },
);
export type RoomChange = Static<typeof RoomChange>;

const facts = {
  room_id: id('Id of the room'),
  room_code: label('With it a client joins'),
  tenant_id: id('Tenant'),
  title: optional(title),
  recorded,
  locked: flag('No further member may join'),
  languages,
  listeners: count('Hearers that are counted and not listed, readers of captions included'),
  created_at_ms: count('When it was opened (epoch ms)'),
  active_at_ms: count('When a member joined or spoke last, roughly (epoch ms)'),
  ended_at_ms: optional(count('When it ended (epoch ms)')),
};

export const RoomView = Type.Object(
  {
    ...facts,
    members: list(RoomMember, 1024, 'Members, except listeners that are only counted'),
  },
  { title: 'RoomView', description: 'A room' },
);
export type RoomView = Static<typeof RoomView>;

export const RoomSummary = Type.Object(
  { ...facts, members: count('Members, except listeners that are only counted') },
  { title: 'RoomSummary', description: 'A room in a list' },
);
export type RoomSummary = Static<typeof RoomSummary>;

export const RoomList = Type.Object(
  { rooms: list(RoomSummary, MOST_ROOMS, 'In the order in which they were opened') },
  { title: 'RoomList', description: 'The rooms of a tenant' },
);
export type RoomList = Static<typeof RoomList>;

export const RoomEnded = Type.Object(
  { ok: Type.Literal(true) },
  { title: 'RoomEnded', description: 'The room has ended for all' },
);
export type RoomEnded = Static<typeof RoomEnded>;

export const RoomTokenMint = Type.Object(
  {
    user_id: optional(id('Whose token it is, for the audit log; absent: a name is made')),
    role: optional(oneOf(ROOM_ROLES, 'Role of the guest in the room; listener if absent')),
    language: optional(language('The language that the guest hears first; it may choose another one')),
    expires_in_seconds: optional(
      count(`How long it is valid; ${DEFAULT_TOKEN_SECONDS} if absent`, {
        minimum: 1,
        maximum: LONGEST_TOKEN_SECONDS,
      }),
    ),
  },
  { title: 'RoomTokenMint', description: 'Asks for the token of a guest' },
);
export type RoomTokenMint = Static<typeof RoomTokenMint>;

export const RoomToken = Type.Object(
  {
    token: text('The token: it opens this room and nothing else', 4096),
    expires_at_ms: count('When it ends (epoch ms)'),
    user_id: id('Whose token it is'),
    role: oneOf(ROOM_ROLES, 'Role of the guest'),
    room_id: id('Id of the room'),
    room_code: label('With it and the token the guest joins'),
  },
  { title: 'RoomToken', description: 'The token of a guest of one room' },
);
export type RoomToken = Static<typeof RoomToken>;

export const RoomErased = Type.Object(
  { ok: Type.Literal(true), utterances: count('Utterances whose texts were removed') },
  { title: 'RoomErased', description: 'What the member said is not in the log any more' },
);
export type RoomErased = Static<typeof RoomErased>;
