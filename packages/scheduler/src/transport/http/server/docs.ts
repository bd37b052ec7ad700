/**
 * The OpenAPI page at /docs, its document at /docs/json, and the messages of the sockets at /docs/asyncapi.json. All
 * assets are served locally.
 */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { buildAsyncApi } from '../../docs/asyncapi.ts';
import { buildOpenApi } from '../../docs/openapi.ts';

/** The page's own policy without the https requirement, which a server on a local network cannot meet. */
const CONTENT_POLICY =
  "default-src 'self'; base-uri 'self'; font-src 'self' data:; frame-ancestors 'self'; img-src 'self' data:; " +
  "object-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self' 'unsafe-inline'";

export function addDocs(app: FastifyInstance, version: string): void {
  app.register(swagger, {
    mode: 'static',
    specification: { document: buildOpenApi(version) as never },
  });
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CONTENT_POLICY,
    theme: { title: 'Lingua Scheduler: HTTP API' },
  });
  const messages = buildAsyncApi(version);
  app.get('/docs/asyncapi.json', () => messages);
}
