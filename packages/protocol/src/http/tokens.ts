/** Minting of short-lived tokens, what such a token says, and whose token a caller has. */
import { type Static, Type } from 'typebox';
import { ROOM_ROLES } from '../session/rooms.ts';
import { count, flag, id, label, language, list, oneOf, optional, text } from '../shared/bounded.ts';
import { ROLE_NAMES } from './roles.ts';

/** A day; the claims of a longer one are refused. */
export const LONGEST_TOKEN_SECONDS = 86_400;
export const DEFAULT_TOKEN_SECONDS = 3_600;

/** Nodes and admins have configured tokens only. */
const role = oneOf(['client', 'viewer', 'operator'], 'Role of the token; client if absent');

const scope = {
  tenant_id: optional(id('Tenant of a client; absent: the tenant of the minting token')),
  session_id: optional(id('The only session that a client may use; absent: any of its tenant')),
  languages: optional(
    list(
      language('Language, or `auto`'),
      256,
      'The only languages that a client may speak and hear; absent: all',
    ),
  ),
};

export const TokenMint = Type.Object(
  {
    user_id: id(
      'Whose token it is: names the user in the audit log. Tokens of one user share their sessions',
    ),
    role: optional(role),
    ...scope,
    expires_in_seconds: optional(
      count(`How long it is valid; ${DEFAULT_TOKEN_SECONDS} if absent`, {
        minimum: 1,
        maximum: LONGEST_TOKEN_SECONDS,
      }),
    ),
  },
  { title: 'TokenMint', description: 'Asks for a short-lived token for one user' },
);
export type TokenMint = Static<typeof TokenMint>;

export const TokenMintReply = Type.Object(
  {
    token: text('The token: sent like any other, and never stored here', 4096),
    expires_at_ms: count('When it ends (epoch ms)'),
    role,
    tenant_id: optional(id('Tenant')),
  },
  { title: 'TokenMintReply', description: 'A token that every instance accepts until it expires' },
);
export type TokenMintReply = Static<typeof TokenMintReply>;

/** What a token of POST /v1/rooms/:id/tokens opens; nothing else of its tenant. */
export const RoomGrant = Type.Object(
  {
    room_id: id('The only room that it opens'),
    role: oneOf(ROOM_ROLES, 'The role of the guest in the room'),
    language: optional(language('The language that the guest hears first; it may choose another one')),
  },
  { title: 'RoomGrant', description: 'What a guest of a room may do' },
);
export type RoomGrant = Static<typeof RoomGrant>;

/** The payload of a minted token; times in seconds, as in every JWT. */
export const TokenClaims = Type.Object(
  {
    sub: id('The user'),
    role,
    ...scope,
    room: optional(RoomGrant),
    by: optional(text('Name of the minting token', 256)),
    jti: id('Number of the token'),
    iat: count('When it was minted'),
    exp: count('When it ends'),
  },
  { title: 'TokenClaims', description: 'What a minted token says' },
);
export type TokenClaims = Static<typeof TokenClaims>;

const anyRole = (description: string) => oneOf([...ROLE_NAMES], description);

export const WhoamiReply = Type.Object(
  {
    role: anyRole('The role of the token'),
    roles: list(anyRole('Role'), ROLE_NAMES.length, 'Every role that the caller may act in'),
    is_anonymous: flag('The caller sent no token; the network or open mode admits it'),
    name: optional(label('Name of the token in the configuration')),
    tenant_id: optional(id('Tenant of the token')),
    room: optional(RoomGrant),
    expires_at_ms: optional(count('When the token ends (epoch ms); absent: never')),
  },
  { title: 'WhoamiReply', description: 'Who the caller is' },
);
export type WhoamiReply = Static<typeof WhoamiReply>;
