/**
 * Hot path: a JSON body that says how long it is, read, judged and handled in one go. The framework does the same in a dozen steps, each
 * with its own closures. Anything unusual about a request is left to it, and every error is answered by it.
 */
import { parseJson, validator } from '@lingua/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput } from './invalid-input.ts';

const JSON_TYPES: ReadonlySet<string | undefined> = new Set([
  'application/json',
  'application/json; charset=utf-8',
]);

type Schema = Parameters<typeof validator>[0];

/** Such a body comes in one piece, or in a few. */
const MOST_BYTES = 16 * 1024;

/** False: the framework is to go on. Otherwise it answers, now or later. */
export type Direct = (request: FastifyRequest, reply: FastifyReply) => boolean;

export interface DirectRoute {
  readonly schema: Schema;
  readonly maxBodyBytes: number;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
  /** Sends what the handler returned, unless that was the reply. */
  readonly send: (reply: FastifyReply, answer: unknown) => void;
}

export function handleDirectly({ schema, maxBodyBytes, handler, send }: DirectRoute): Direct {
  const validate = validator(schema);
  const mostBytes = Math.min(maxBodyBytes, MOST_BYTES);

  function handle(request: FastifyRequest, reply: FastifyReply, text: string): void {
    const parsed = parseJson(text);
    if (!parsed.ok) {
      refuse(reply, new InvalidInput(parsed.problem));
      return;
    }
    // As the framework has it: nothing is an empty object, of which the missing field is named.
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
    if (!(length > 0 && length <= mostBytes) || !JSON_TYPES.has(headers['content-type'])) return false;
    let received: Buffer | undefined;
    raw.on('data', (chunk: Buffer) => {
      received = received === undefined ? chunk : Buffer.concat([received, chunk]);
      // The parser lets nothing through beyond the length.
      if (received.length < length) return;
      try {
        handle(request, reply, received.toString('utf8'));
      } catch (fault) {
        fail(reply, fault);
      }
    });
    // The client left in the middle: its fault, as the framework sees it.
    raw.on('error', (fault) => refuse(reply, Object.assign(fault, { statusCode: 400 })));
    return true;
  };
}

/** What else comes on this connection cannot be told from the rest of a body that was not understood. */
function refuse(reply: FastifyReply, fault: Error): void {
  if (reply.sent) return;
  reply.header('connection', 'close');
  reply.send(fault);
}

const fail = (reply: FastifyReply, fault: unknown): FastifyReply =>
  reply.send(fault instanceof Error ? fault : new Error('not an error was thrown', { cause: fault }));
