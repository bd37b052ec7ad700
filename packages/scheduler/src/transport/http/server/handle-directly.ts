/**
 * Hot path: reads, validates and handles a JSON body of known length in one step. The framework takes a dozen steps
 * with a closure each. Unusual requests and all errors are left to the framework.
 */
import { parseJson, validator } from '@lingua/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput } from './read-input.ts';

const JSON_TYPES: ReadonlySet<string | undefined> = new Set([
  'application/json',
  'application/json; charset=utf-8',
]);

type Schema = Parameters<typeof validator>[0];

/** A body of this size arrives in one or a few chunks. */
const MAX_BYTES = 16 * 1024;

/** False: the framework continues. True: this function replies, now or later. */
export type Direct = (request: FastifyRequest, reply: FastifyReply) => boolean;

export interface DirectRoute {
  readonly schema: Schema;
  readonly maxBodyBytes: number;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
  /** Sends the handler's return value, unless that was the reply. */
  readonly send: (reply: FastifyReply, answer: unknown) => void;
}

export function handleDirectly({ schema, maxBodyBytes, handler, send }: DirectRoute): Direct {
  const validate = validator(schema);
  const maxBytes = Math.min(maxBodyBytes, MAX_BYTES);

  function handle(request: FastifyRequest, reply: FastifyReply, text: string): void {
    const parsed = parseJson(text);
    if (!parsed.ok) {
      refuse(reply, new InvalidInput(parsed.problem));
      return;
    }
    // As in the framework: an absent body counts as an empty object, so that the error names the missing field.
    const validated = validate(parsed.value ?? {});
    if (!validated.ok) {
      reply.send(new InvalidInput(validated.problem));
      return;
    }
    request.body = validated.value;
    const answer = handler(request, reply);
    if (answer instanceof Promise) sendLater(reply, answer);
    else if (answer !== reply) send(reply, answer);
  }

  function sendLater(reply: FastifyReply, answering: Promise<unknown>): void {
    answering
      .then((answer) => {
        if (answer !== reply) send(reply, answer);
      })
      .catch((fault: unknown) => fail(reply, fault));
  }

  return (request, reply) => {
    const { raw } = request;
    const { headers } = raw;
    const length = Number(headers['content-length']);
    if (!(length > 0 && length <= maxBytes) || !JSON_TYPES.has(headers['content-type'])) return false;
    let received: Buffer | undefined;
    raw.on('data', (chunk: Buffer) => {
      received = received === undefined ? chunk : Buffer.concat([received, chunk]);
      // Node's HTTP parser passes no bytes beyond the length.
      if (received.length < length) return;
      try {
        handle(request, reply, received.toString('utf8'));
      } catch (fault) {
        fail(reply, fault);
      }
    });
    // The client left before the end of its body; the framework also answers 400.
    raw.on('error', (fault) => refuse(reply, Object.assign(fault, { statusCode: 400 })));
    return true;
  };
}

/** After an unreadable body, the next request on this connection cannot be told from its rest. */
function refuse(reply: FastifyReply, fault: Error): void {
  if (reply.sent) return;
  reply.header('connection', 'close');
  reply.send(fault);
}

const fail = (reply: FastifyReply, fault: unknown): FastifyReply =>
  reply.send(
    fault instanceof Error ? fault : new Error('a value that is not an Error was thrown', { cause: fault }),
  );
