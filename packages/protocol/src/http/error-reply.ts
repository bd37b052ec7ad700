/** The body of every HTTP refusal. */
import { type Static, Type } from 'typebox';
import { ERROR_CODES } from '../error-codes.ts';
import { anyOf, count, extension, id, label, list, text } from '../shared/bounded.ts';

export const RejectionCount = Type.Object(
  {
    reason: label('Why nodes were rejected'),
    count: count('How many nodes'),
    sample_node_ids: list(id('Node'), 16, 'Some of them'),
  },
  { title: 'RejectionCount', description: 'Number of nodes rejected for one reason' },
);
export type RejectionCount = Static<typeof RejectionCount>;

export const ErrorReply = Type.Object(
  {
    error: anyOf(ERROR_CODES, 'Error code'),
    detail: text('What is wrong, as text for people'),
    hint: extension(text('Advice for people')),
    field: extension(text('JSON pointer of the invalid field', 1024)),
    reasons: extension(list(RejectionCount, 64, 'Why no node was found')),
    job_id: extension(id('Job that failed')),
    warnings: extension(
      list(text('Field and where it belongs', 512), 8, 'Fields of the request that were ignored'),
    ),
    retry_after_ms: extension(count('When to try again')),
  },
  { title: 'ErrorReply', description: 'Why the request was refused' },
);
export type ErrorReply = Static<typeof ErrorReply>;
