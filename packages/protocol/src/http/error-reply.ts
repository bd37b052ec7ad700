/** The body of every HTTP refusal. */
import { type Static, Type } from 'typebox';
import { ERROR_CODES } from '../error-codes.ts';
import { anyOf, count, extension, id, label, list, text } from '../shared/bounded.ts';

export const RejectionCount = Type.Object(
  {
    reason: label('Why nodes were passed over'),
    count: count('How many nodes'),
    sample_node_ids: list(id('Node'), 16, 'Some of them'),
  },
  { title: 'RejectionCount', description: 'How many nodes were passed over for one reason' },
);
export type RejectionCount = Static<typeof RejectionCount>;

export const ErrorReply = Type.Object(
  {
    error: anyOf(ERROR_CODES, 'Error code'),
    detail: text('What is wrong, for a person'),
    hint: extension(text('What a person can do about it')),
    field: extension(text('JSON pointer of the field at fault', 1024)),
    reasons: extension(list(RejectionCount, 64, 'Why no node was found')),
    retry_after_ms: extension(count('When to try again')),
  },
  { title: 'ErrorReply', description: 'Why the request was refused' },
);
export type ErrorReply = Static<typeof ErrorReply>;
