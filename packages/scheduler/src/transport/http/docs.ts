/** The OpenAPI page at /docs and its document at /docs/json, made from the routes; all assets are served from here. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

const TAGS = [
  { name: 'dispatch', description: 'Handing in utterances' },
  { name: 'jobs', description: 'Following jobs, and what nodes report of them' },
  { name: 'nodes', description: 'Nodes that speak HTTP' },
  { name: 'operators', description: 'Looking at the fleet and steering it' },
  { name: 'health', description: 'Health and measurements' },
];

/** As the page's own, but without the demand for https, which a server on a local network cannot meet. */
const CONTENT_POLICY =
  "default-src 'self'; base-uri 'self'; font-src 'self' data:; frame-ancestors 'self'; img-src 'self' data:; " +
  "object-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self' 'unsafe-inline'";

/** To be called before any route is declared. */
export function addDocs(app: FastifyInstance, version: string): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Lingua Scheduler',
        version,
        description:
          'Schedules speech translation on GPU nodes. Fields marked "extension" are optional additions.',
      },
      tags: TAGS,
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
  });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: CONTENT_POLICY });
}
