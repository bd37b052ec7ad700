/** The verdict on a token: why an upgrade was refused, for browsers, which cannot read its status. */
import { type Static, Type } from 'typebox';
import { flag, oneOf, optional, text } from '../shared/bounded.ts';

const role = oneOf(['session', 'node'], 'The socket that the peer wants to open');

export const CheckQuery = Type.Object(
  { role, token: optional(text('The token, if it is not in the Authorization header', 4096)) },
  { title: 'CheckQuery', description: 'Which socket, with which token' },
);
export type CheckQuery = Static<typeof CheckQuery>;

export const CheckReply = Type.Object(
  {
    role,
    is_admitted: flag('The peer may open this socket with this token'),
    code: optional(
      oneOf(['UNAUTHORIZED', 'FORBIDDEN'], 'UNAUTHORIZED: the token is missing, wrong or of another role'),
    ),
    message: optional(text('Why not, as text for people')),
    hint: optional(text('What to do about it')),
  },
  { title: 'CheckReply', description: 'The verdict on a token, and nothing else' },
);
export type CheckReply = Static<typeof CheckReply>;
