/** Hot path: JSON bodies are read by the protocol's own parser: null means absent, no prototype keys, bounded nesting. */
import { parseJson } from '@lingua/protocol';
import type { FastifyInstance } from 'fastify';
import { InvalidInput } from './invalid-input.ts';

export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    // Some clients name the type of a body they do not send.
    if (body === '') return done(null, undefined);
    const parsed = parseJson(body as string);
    if (parsed.ok) done(null, parsed.value);
    else done(new InvalidInput(parsed.problem), undefined);
  });
}
