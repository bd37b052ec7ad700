/**
 * Messages between instances, as calls: `send` sends a message that may not be lost, `request` waits for a reply.
 *
 * A message is sent only to an instance that lived at the last membership read, at most a second ago (I9), and never by an instance
 * that may itself have been declared dead. Messages of one lane are handled in the order they were sent, except retried ones.
 */
import { isErrorCode, SchedulerError } from '../../domain/errors.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Inbox } from '../../ports/inbox.ts';
import type { Instance } from '../../ports/instances.ts';
import type { Meter } from '../../ports/meter.ts';

export interface MessageBus {
  /** False: the receiver is gone or its inbox is full, and the message was not sent. Throws: it may have been sent. */
  send(to: string, message: Outgoing): Promise<boolean>;
  /** Rejects with SCHEDULER_DEPENDENCY_DOWN without a reply in time. The receiver may have handled the message, unless the fault is `Unsent`. */
  request(to: string, message: Outgoing, limitMs: number): Promise<unknown>;
  /** Registers the handler of a topic. Its result is sent as the reply to `request`. */
  on(topic: string, handle: HandleMessage): void;
  /** Handles a message of the inbox. Rejects if it could not be handled. `wasOpened`: it was delivered before, to a reader that may have handled it and then died or failed to reply. */
  receive(text: string, wasOpened?: boolean): Promise<void>;
  /** Asks whose replies are waited for. */
  awaitedReplies(): number;
}

export type HandleMessage = (body: unknown, from: string, wasOpened: boolean) => Promise<unknown>;

export interface Outgoing {
  readonly topic: string;
  /** Messages with the same lane stay in order: the id of the job, node or session. */
  readonly lane: string;
  readonly body: unknown;
}

interface Envelope {
  readonly topic: string;
  readonly from: string;
  /** The sender waits for a reply with this id. */
  readonly replyId?: string;
  readonly body: unknown;
}

type Reply =
  | { readonly answer: unknown }
  | { readonly code: string; readonly message: string }
  | { readonly absent: string };

/** The message was not sent: the receiver is gone, or its inbox is full. */
export class Unsent extends SchedulerError {
  constructor(to: string) {
    super('SCHEDULER_DEPENDENCY_DOWN', `instance ${to} is gone, or its inbox is full`);
  }
}

const REPLY = 'reply';
/** Replies that are waited for. Each wait is bounded in time, so a healthy cluster stays far below. */
const MAX_AWAITED = 20_000;

/** The lane stands before the JSON text, so that it can be read without parsing the message. */
export const laneOf = (text: string): string => text.slice(0, text.indexOf(' '));

export function createMessageBus(deps: {
  inbox: Pick<Inbox, 'send'>;
  clock: Clock;
  meter: Meter;
  self: () => { readonly instanceId: string };
  isFenced: () => boolean;
  /** `expected`: the receiver; membership is read again if it is missing, because it may have joined a moment ago. */
  living: (expected: string) => Promise<ReadonlyMap<string, Instance>>;
  newReplyId: () => string;
}): MessageBus {
  const { inbox, clock } = deps;
  const handlers = new Map<string, HandleMessage>();
  const awaited = new Map<string, { settle: (reply: Reply) => void; cancel: Cancel }>();

  async function post(to: string, { topic, lane, body }: Outgoing, replyId?: string): Promise<boolean> {
    refuseIfFenced();
    const isThere = (await deps.living(to)).has(to);
    // This instance may have been frozen during the read.
    refuseIfFenced();
    if (!isThere) return refused('not_living');
    const from = deps.self().instanceId;
    const envelope: Envelope = { topic, from, body, ...(replyId !== undefined && { replyId }) };
    const sent = await inbox.send(to, `${lane} ${JSON.stringify(envelope)}`);
    return sent === 'sent' || refused(sent);
  }

  function refuseIfFenced(): void {
    if (deps.isFenced()) throw down('this instance may have been declared dead and sends no messages');
  }

  function refused(reason: string): false {
    deps.meter.count('scheduler_cluster_messages_refused_total', { reason });
    return false;
  }

  function settle(replyId: string, reply: Reply): void {
    const waiting = awaited.get(replyId);
    if (waiting === undefined) return;
    awaited.delete(replyId);
    waiting.cancel();
    waiting.settle(reply);
  }

  function awaitReply(replyId: string, to: string, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      awaited.set(replyId, {
        settle: (reply) => ('answer' in reply ? resolve(reply.answer) : reject(faultOf(reply))),
        cancel: clock.after(limitMs, () => {
          awaited.delete(replyId);
          reject(down(`instance ${to} did not reply within ${limitMs} ms`));
        }),
      });
    });
  }

  async function replyTo(handle: () => Promise<unknown>): Promise<Reply> {
    try {
      // JSON has no undefined.
      return { answer: (await handle()) ?? null };
    } catch (fault) {
      const code = fault instanceof SchedulerError ? fault.code : 'INTERNAL_ERROR';
      return { code, message: messageOf(fault) };
    }
  }

  return {
    send: (to, message) => post(to, message),

    async request(to, message, limitMs) {
      if (awaited.size >= MAX_AWAITED) throw down('too many replies of other instances are waited for');
      const replyId = deps.newReplyId();
      const reply = awaitReply(replyId, to, limitMs);
      // Not awaited: the limit of the caller also holds while Redis does not answer.
      post(to, message, replyId).then(
        (isSent) => {
          if (!isSent) settle(replyId, { absent: to });
        },
        // The message may have been sent, but its reply may never come.
        (fault: unknown) => settle(replyId, { code: 'SCHEDULER_DEPENDENCY_DOWN', message: messageOf(fault) }),
      );
      return reply;
    },

    on: (topic, handle) => void handlers.set(topic, handle),

    async receive(text, wasOpened = false) {
      const { topic, from, replyId, body } = JSON.parse(text.slice(text.indexOf(' ') + 1)) as Envelope;
      if (topic === REPLY && replyId !== undefined) return settle(replyId, readReply(body));
      const handle = handlers.get(topic);
      if (handle === undefined) throw new Error(`no handler for messages about ${topic}`);
      if (replyId === undefined) {
        await handle(body, from, wasOpened);
        return;
      }
      const reply = await replyTo(() => handle(body, from, wasOpened));
      await post(from, { topic: REPLY, lane: replyId, body: reply }, replyId);
    },

    awaitedReplies: () => awaited.size,
  };
}

/** Throws for a malformed reply, so that the reader retries the message. */
function readReply(body: unknown): Reply {
  const reply = (body ?? {}) as { answer?: unknown; code?: unknown; message?: unknown };
  if (reply.answer !== undefined) return { answer: reply.answer };
  if (reply.code !== undefined) return { code: String(reply.code), message: String(reply.message) };
  throw new Error('a reply without an answer or a code');
}

const down = (message: string): SchedulerError => new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', message);

function faultOf(reply: Exclude<Reply, { answer: unknown }>): SchedulerError {
  if ('absent' in reply) return new Unsent(reply.absent);
  return new SchedulerError(isErrorCode(reply.code) ? reply.code : 'INTERNAL_ERROR', reply.message);
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
