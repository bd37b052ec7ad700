/** Whose token this is: for programs and pages that show only what their caller may do. */
import { type Static, Type } from 'typebox';
import { count, flag, id, label, list, oneOf, optional } from '../shared/bounded.ts';
import { ROLE_NAMES } from './roles.ts';
import { RoomGrant } from './tokens.ts';

const role = (description: string) => oneOf([...ROLE_NAMES], description);

export const WhoamiReply = Type.Object(
  {
    role: role('The role of the token'),
    roles: list(role('Role'), ROLE_NAMES.length, 'Every role that the caller may act in'),
    is_anonymous: flag('The caller sent no token; the network or open mode admits it'),
    name: optional(label('Name of the token in the configuration')),
    tenant_id: optional(id('Tenant of the token')),
    room: optional(RoomGrant),
    expires_at_ms: optional(count('When the token ends (epoch ms); absent: never')),
  },
  { title: 'WhoamiReply', description: 'Who the caller is' },
);
export type WhoamiReply = Static<typeof WhoamiReply>;
