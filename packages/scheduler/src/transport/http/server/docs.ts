/**
 * The OpenAPI page at /docs, its document at /docs/json, and the messages of the sockets at /docs/asyncapi.json. All
 * assets are served locally.
 */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { buildAsyncApi } from '../../docs/asyncapi.ts';
import { buildOpenApi } from '../../docs/openapi.ts';
import { refusalOfSpending } from './authorize.ts';
import { replyError } from './handle-error.ts';
import type { HttpServices } from './http-services.ts';

/** Of the one style element that the scripts of the page add. */
const ADDED_STYLE = "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='";
/** The page's own policy without the https requirement, which a server on a local network cannot meet, and without inline styles. */
const CONTENT_POLICY =
  "default-src 'self'; base-uri 'self'; font-src 'self' data:; frame-ancestors 'self'; img-src 'self' data:; " +
  "object-src 'none'; script-src 'self'; script-src-attr 'none'; " +
  `style-src 'self' ${ADDED_STYLE}`;

export function addDocs(
  app: FastifyInstance,
  { gate, settings }: Pick<HttpServices, 'gate' | 'settings'>,
): void {
  const { version = '0.0.0' } = settings;
  app.register(async (scope) => {
    // They need no token, and large replies cost more than the request.
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.header('x-content-type-options', 'nosniff');
      const refusal = refusalOfSpending(gate.spend(undefined));
      if (refusal === undefined) done();
      else replyError(reply, refusal);
    });
    scope.setErrorHandler((fault: { statusCode?: number }, _request, reply) => {
      // A path that leaves the folder of the files, or is no path.
      if (fault.statusCode === undefined || fault.statusCode >= 500) throw fault;
      return replyError(reply, { code: 'NOT_FOUND', detail: 'there is no such file' });
    });
    scope.register(swagger, {
      mode: 'static',
      specification: { document: buildOpenApi(version) as never },
    });
    scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: CONTENT_POLICY,
      theme: { title: 'Lingua Scheduler: HTTP API' },
    });
    const messages = buildAsyncApi(version);
    scope.get('/docs/asyncapi.json', () => messages);
  });
}
