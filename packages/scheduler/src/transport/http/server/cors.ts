/** Lets pages of the configured origins read replies. Installed only if origins are configured. */
import type { FastifyInstance } from 'fastify';

const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, last-event-id';
const PREFLIGHT_SECONDS = '600';

export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  const allowsAll = origins.includes('*');
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !(allowsAll || origins.includes(origin))) return done();
    reply.header('access-control-allow-origin', allowsAll ? '*' : origin);
    reply.header('access-control-expose-headers', 'retry-after');
    if (request.method !== 'OPTIONS') return done();
    reply
      .code(204)
      .header('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
      .header('access-control-allow-headers', ALLOWED_HEADERS)
      .header('access-control-max-age', PREFLIGHT_SECONDS)
      .send();
  });
}
