/** Prints docs/errors.md from the one error table. Pure. */
import { ERRORS, type ErrorEntry } from '../../domain/errors.ts';
import { code, page, table } from './markdown.ts';

const INTRODUCTION = `# Error codes

Printed from the error table in \`packages/scheduler/src/domain/errors.ts\`; do not edit it, \`npm run docs\` writes it.

- Over HTTP a refusal has the status below and the body \`{"error": code, "detail", "hint", …}\`; \`detail\` describes this case,
  \`hint\` is the sentence below. [ErrorReply](protocol.md#errorreply) has all fields.
- On a socket it is the message \`error\` with \`code\`, \`message\` and the hint in \`details\`. Where "closes the socket" is yes, the scheduler
  closes it afterwards, as it does after every refused node_register.
- "Try again" says yes where the same request may succeed later without any change.
- A failed job carries its code in \`result.error\` of [GET /v1/job/:id](protocol.md#-get-v1jobid). Nodes may send codes that are not in this
  table; they are passed on as they came.`;

export function printErrors(): string {
  const rows = Object.entries<ErrorEntry>(ERRORS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { status, hint, isTransient, closesSocket }]) => [
      code(name),
      String(status),
      isTransient === true ? 'yes' : 'no',
      closesSocket === true ? 'yes' : 'no',
      hint,
    ]);
  return page(INTRODUCTION, table(['code', 'HTTP', 'try again', 'closes the socket', 'what to do'], rows));
}
