/** The `error` message, the same for nodes and sessions. */
import type { Static } from 'typebox';
import { ERROR_CODES } from '../error-codes.ts';
import { anyOf, anything, optional, text, traceId } from './bounded.ts';
import { message } from './message.ts';

export const ErrorMessage = message('error', 'A message of this peer could not be served', {
  code: anyOf(ERROR_CODES, 'Error code'),
  message: text('What is wrong, as text for people'),
  details: optional(
    anything(
      'Further data, depending on the code. In a session, an error without `job_id` that names audio refuses it: a whole utterance by `request_id` (or its `utterance_index` as sent), chunks by `first_seq` and `last_seq`. RATE_LIMITED: send it again; any other code: it will have no outcome',
    ),
  ),
  trace_id: optional(traceId()),
});
export type ErrorMessage = Static<typeof ErrorMessage>;
