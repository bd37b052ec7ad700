/** The AsyncAPI document: the messages of both WebSockets, built from the same schemas that validate them. Pure. */
import { DIRECTIONS, type JsonSchema } from '@lingua/protocol';
import { createNamedSchemas } from './name-schemas.ts';

const SOCKETS = [
  {
    name: 'session',
    address: '/ws/session',
    description: 'A client: streams speech, and receives one outcome per utterance, in order',
  },
  {
    name: 'node',
    address: '/ws/node',
    description: 'A node: registers, sends heartbeats, receives jobs and reports their results',
  },
] as const;

export interface AsyncApi {
  readonly asyncapi: string;
  readonly channels: Readonly<Record<string, { readonly messages: Readonly<Record<string, object>> }>>;
  readonly operations: Readonly<Record<string, { readonly messages: readonly object[] }>>;
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly name: string; readonly payload: JsonSchema }>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: object;
  };
  readonly [part: string]: unknown;
}

export function buildAsyncApi(version: string): AsyncApi {
  const schemas = createNamedSchemas();
  const messages = Object.fromEntries(
    DIRECTIONS.flatMap(({ name: direction, messages: sent }) =>
      sent.map((schema) => {
        const type = schema.properties.type.const;
        const name = `${direction}.${type}`;
        // Some types exist in several directions with different fields.
        const payload = schemas.refer(schema, name);
        const { description = '' } = schema as { description?: string };
        return [name, { name: type, title: type, summary: description, payload }] as const;
      }),
    ),
  );
  const namesOf = (direction: string) =>
    Object.keys(messages).filter((name) => name.startsWith(`${direction}.`));

  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Lingua Scheduler: WebSocket messages',
      version,
      description:
        'JSON text frames, one message per frame, identified by `type`. Parts with the $comment "extension" are optional additions. The HTTP API is in openapi.json.',
    },
    servers: {
      local: {
        host: '127.0.0.1:5010',
        protocol: 'ws',
        security: [{ $ref: '#/components/securitySchemes/token' }],
      },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      SOCKETS.map(({ name, address, description }) => {
        const names = [...namesOf(`${name}_to_scheduler`), ...namesOf(`scheduler_to_${name}`)];
        const refs = names.map((each) => [each, { $ref: `#/components/messages/${each}` }]);
        return [name, { address, description, messages: Object.fromEntries(refs) }];
      }),
    ),
    // From the view of the scheduler, as AsyncAPI asks.
    operations: Object.fromEntries(
      SOCKETS.flatMap(({ name }) =>
        (
          [
            ['receive', `${name}_to_scheduler`],
            ['send', `scheduler_to_${name}`],
          ] as const
        ).map(([action, direction]) => [
          direction,
          {
            action,
            channel: { $ref: `#/channels/${name}` },
            messages: namesOf(direction).map((each) => ({ $ref: `#/channels/${name}/messages/${each}` })),
          },
        ]),
      ),
    ),
    components: {
      messages,
      schemas: schemas.all(),
      securitySchemes: {
        token: {
          type: 'httpApiKey',
          in: 'query',
          name: 'token',
          description: 'Where tokens are configured; or "Authorization: Bearer" at the upgrade',
        },
      },
    },
  };
}
