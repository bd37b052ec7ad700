/** The OpenAPI page at /docs and its document at /docs/json, built from the routes. All assets are served locally. */

import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { publishSchema } from '@lingua/protocol';
import type { FastifyInstance, FastifySchema } from 'fastify';

const TAGS = [
  { name: 'dispatch', description: 'Submitting utterances' },
  { name: 'jobs', description: 'Following jobs, and reports of nodes about them' },
  { name: 'nodes', description: 'HTTP nodes' },
  { name: 'operators', description: 'Watching and controlling the fleet' },
  { name: 'health', description: 'Health and metrics' },
];

/** The page's own policy without the https requirement, which a server on a local network cannot meet. */
const CONTENT_POLICY =
  "default-src 'self'; base-uri 'self'; font-src 'self' data:; frame-ancestors 'self'; img-src 'self' data:; " +
  "object-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self' 'unsafe-inline'";

/** Call it before any route is declared. */
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

/** Routes of plugins have no schema. */
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
