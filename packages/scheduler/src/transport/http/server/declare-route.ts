/** Declares a route from the protocol's endpoint table, which provides schemas, summary and replies. */
import { ErrorReply, HTTP_ENDPOINTS, type HttpEndpoint } from '@lingua/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify';
import { authorize, type Entry } from './authorize.ts';
import { type DirectRoute, handleDirectly } from './handle-directly.ts';
import type { HttpServices } from './http-services.ts';
import { sendText } from './send-text.ts';

export interface RouteOptions {
  readonly tag: string;
  /** Absent: open to every peer. */
  readonly entry?: Entry;
  /** The route itself checks a bearer token of another kind, instead of a role. */
  readonly hasOwnToken?: boolean;
  readonly bodyLimit?: number;
  /** For endpoints that are not in the protocol's table, or differ from it. */
  readonly endpoint?: Partial<
    Pick<HttpEndpoint, 'summary' | 'params' | 'query' | 'body' | 'reply' | 'mediaType'>
  >;
  /** Prints a reply with status 200 as ASCII; absent: JSON.stringify. */
  readonly print?: (answer: never) => string;
  /** On the hot path: ordinary bodies bypass the framework's steps. Needs an entry and a body. */
  readonly isDirect?: boolean;
  readonly hasHead?: boolean;
}

export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
}

export type Handler<Shape extends RouteGenericInterface> = (
  request: FastifyRequest<Shape>,
  reply: FastifyReply,
) => unknown;

export interface Routes {
  readonly declared: readonly DeclaredRoute[];
  add<Shape extends RouteGenericInterface>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options: RouteOptions,
    handler: Handler<Shape>,
  ): void;
}

export function createRoutes(app: FastifyInstance, services: HttpServices): Routes {
  const declared: DeclaredRoute[] = [];
  const { settings } = services;
  return {
    declared,
    add(method, path, options, handler) {
      declared.push({ method, path });
      const known = HTTP_ENDPOINTS.find((endpoint) => endpoint.method === method && endpoint.path === path);
      const { summary, params, query, body, reply, mediaType, isStream } = { ...known, ...options.endpoint };
      const isGuarded = options.entry !== undefined || options.hasOwnToken === true;
      const answer = handler as Handler<RouteGenericInterface>;
      const direct =
        options.isDirect === true && body !== undefined
          ? handleDirectly({
              schema: body,
              maxBodyBytes: options.bodyLimit ?? settings.maxBodyBytes,
              handler: answer,
              send: senderOf(options.print, settings.corsOrigins.length > 0),
            })
          : undefined;
      app.route({
        method,
        url: path,
        exposeHeadRoute: options.hasHead ?? false,
        ...(options.bodyLimit === undefined ? {} : { bodyLimit: options.bodyLimit }),
        schema: {
          ...(summary === undefined ? {} : { summary }),
          tags: [options.tag],
          ...(params === undefined ? {} : { params }),
          ...(query === undefined ? {} : { querystring: query }),
          ...(body === undefined ? {} : { body }),
          response: {
            ...(reply === undefined ? {} : { 200: isStream === true ? eventsOf(reply) : reply }),
            ...(mediaType === undefined ? {} : { 200: bytesOf(mediaType) }),
            '4xx': ErrorReply,
            '5xx': ErrorReply,
          },
          ...(isGuarded ? { security: [{ bearer: [] }] } : {}),
        },
        // Most replies contain free-form keys of nodes, which a compiled serializer would drop.
        serializerCompiler: ({ httpStatus }) =>
          (httpStatus === '200' ? options.print : undefined) ?? JSON.stringify,
        ...(options.entry === undefined ? {} : { onRequest: authorize(services, options.entry, direct) }),
        handler: answer,
      });
    },
  };
}

/** The framework must send the reply when CORS headers are added. */
const senderOf = (print: RouteOptions['print'], hasMoreHeaders: boolean): DirectRoute['send'] =>
  print === undefined || hasMoreHeaders
    ? (reply, answer) => reply.send(answer)
    : (reply, answer) => sendText(reply, print(answer as never));

const bytesOf = (mediaType: string) => {
  const isText = mediaType.startsWith('text/');
  return {
    description: isText ? 'Text' : 'Bytes',
    content: { [mediaType]: { schema: { type: 'string', ...(!isText && { format: 'binary' }) } } },
  };
};

const eventsOf = (data: object) => {
  const description = `Server-sent events; the data of each is a ${'title' in data ? data.title : 'value'}`;
  return { description, content: { 'text/event-stream': { schema: { type: 'string' } } } };
};
