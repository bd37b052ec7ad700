/** The OpenAPI page at /docs and its document at /docs/json, made from the routes; all assets are served from here. */

import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { publishSchema } from '@lingua/protocol';
import type { FastifyInstance, FastifySchema } from 'fastify';

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
          'Schedules speech translation on GPU nodes. Fields with the $comment "extension" are optional additions.',
      },
      tags: TAGS,
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform: ({ schema, url }) => ({ schema: publishRoute(schema), url }),
  });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: CONTENT_POLICY });
}

/** Routes that are not ours to show have no schema at all. */
function publishRoute(schema: FastifySchema | undefined): FastifySchema {
  const route: Record<string, unknown> = { ...schema };
  for (const part of ['params', 'querystring', 'body']) {
    if (route[part] !== undefined) route[part] = publishSchema(route[part] as object);
  }
  const answers = Object.entries((route.response ?? {}) as Record<string, object>);
  if (answers.length > 0)
    route.response = Object.fromEntries(answers.map(([status, answer]) => [status, publishSchema(answer)]));
  return route;
}
