/** Declares a route from the protocol's endpoint table, which provides schemas and roles. */
import { HTTP_ENDPOINTS, type HttpEndpoint } from '@lingua/protocol';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preValidationHookHandler,
  RouteGenericInterface,
  RouteOptions as RouteOptionsOfFastify,
} from 'fastify';
import type { Refusal } from '../../wire/error-reply.ts';
import { authorize } from './authorize.ts';
import { type DirectRoute, handleDirectly } from './handle-directly.ts';
import { replyError } from './handle-error.ts';
import { hasHiddenFields, hideSpeech } from './hide-speech.ts';
import type { HttpServices } from './http-services.ts';
import { type AuditedFields, logAction } from './log-action.ts';
import { parseBytes } from './read-input.ts';
import { sendText } from './send-text.ts';

export interface RouteOptions {
  /** Brings new work, which a draining instance refuses. */
  readonly isIntake?: boolean;
  /** The body may name the tenant. The route then charges it for peers whose token names none. */
  readonly namesTenant?: boolean;
  /** For browsers, which cannot send headers here: the token may be in the query, as on sockets. */
  readonly hasQueryToken?: boolean;
  /** Also for the guests of a room; `id` in the path names the room. */
  readonly isForGuests?: boolean;
  readonly bodyLimit?: number;
  /** Prints a reply with status 200 as ASCII; absent: JSON.stringify. */
  readonly print?: (answer: never) => string;
  /** On the hot path: ordinary bodies bypass the framework's steps. Needs roles and a body. */
  readonly isDirect?: boolean;
  readonly hasHead?: boolean;
  /** Recorded in the audit log also if the caller is no operator, with what is returned here. */
  readonly audit?: AuditedFields;
  /** An operator's request is logged. Absent: if it is for operators or admins and the method is not GET. */
  readonly isAction?: boolean;
  /** Makes the body before it is validated; a body that is not JSON is given to it as a buffer. */
  readonly readBody?: (request: FastifyRequest) => Refusal | undefined;
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
    method: HttpEndpoint['method'],
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
      const endpoint = endpointOf(method, path);
      const { params, query, body, roles, operationId } = endpoint;
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
      const { readBody } = options;
      const route: RouteOptionsOfFastify = {
        method,
        url: path,
        exposeHeadRoute: options.hasHead ?? false,
        ...(options.bodyLimit === undefined ? {} : { bodyLimit: options.bodyLimit }),
        schema: {
          ...(params === undefined ? {} : { params }),
          ...(query === undefined ? {} : { querystring: query }),
          ...(body === undefined ? {} : { body }),
        },
        // Most replies contain free-form keys of nodes, which a compiled serializer would drop.
        serializerCompiler: ({ httpStatus }) =>
          (httpStatus === '200' ? options.print : undefined) ?? JSON.stringify,
        ...(isOpen(roles) ? {} : { onRequest: authorize(services, { ...options, roles }, direct) }),
        ...(hasHiddenFields(endpoint) ? { preSerialization: hideSpeech(endpoint) } : {}),
        ...(isLogged(method, roles, options)
          ? { onResponse: logAction(services, { operationId, audit: options.audit }) }
          : {}),
        ...(readBody === undefined ? {} : { preValidation: before(readBody) }),
        handler: answer,
      };
      if (readBody === undefined) app.route(route);
      // Only routes in this scope accept other bodies than JSON.
      else
        app.register(async (scope) => {
          parseBytes(scope);
          scope.route(route);
        });
    },
  };
}

const isLogged = (method: string, roles: HttpEndpoint['roles'], { isAction, audit }: RouteOptions): boolean =>
  audit !== undefined ||
  (isAction ?? (method !== 'GET' && (roles.includes('operator') || roles.includes('admin'))));

/** The framework must send the reply when CORS headers are added. */
const senderOf = (print: RouteOptions['print'], hasMoreHeaders: boolean): DirectRoute['send'] =>
  print === undefined || hasMoreHeaders
    ? (reply, answer) => reply.send(answer)
    : (reply, answer) => sendText(reply, print(answer as never));

const before =
  (readBody: (request: FastifyRequest) => Refusal | undefined): preValidationHookHandler =>
  (request, reply, done) => {
    const refusal = readBody(request);
    if (refusal === undefined) done();
    else replyError(reply, refusal);
  };

function endpointOf(method: string, path: string): HttpEndpoint {
  const endpoint = HTTP_ENDPOINTS.find((entry) => entry.method === method && entry.path === path);
  if (endpoint === undefined) throw new Error(`${method} ${path} is not in the table HTTP_ENDPOINTS`);
  return endpoint;
}

/** A route for a `job_token` checks it itself. */
const isOpen = (roles: HttpEndpoint['roles']): roles is 'none' | 'job_token' => typeof roles === 'string';
