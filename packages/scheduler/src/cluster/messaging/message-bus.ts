/**
 * Messages between instances, as calls: `tell` hands over something that may not be lost, `ask` waits for an answer.
 *
 * Nothing is sent to an instance that was not living when last looked, at most a second ago (I9), nor by one that may itself
 * have been taken for dead. Messages of one lane are handled in the order they were
 * sent, but for those that come again, and where being told begins or ends.
 *
 * What is soon outdated may be asked, and answered, by a hint, which writes nothing. Hints may be lost: without an answer in a
 * moment it is asked once more, by message. What somebody waits for may be asked directly, past the store, and by message if that cannot be
 * had or nothing comes of it. In both cases its handler must bear to be asked twice.
 */
import { isErrorCode, SchedulerError } from '../../domain/errors.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { DirectLine } from '../../ports/direct-line.ts';
import type { Inbox } from '../../ports/inbox.ts';
import type { Instance } from '../../ports/instances.ts';
import type { Meter } from '../../ports/meter.ts';
import { createDirectAsks } from './direct-asks.ts';

export interface MessageBus {
  /** False: nobody is there, or its inbox is full; then it was not sent. Throws: it may have been. */
  tell(to: string, message: Outgoing): Promise<boolean>;
  /** Rejects with SCHEDULER_DEPENDENCY_DOWN if there is no answer in time; whether it was heard is then unknown, unless it is `Unsent`. */
  ask(to: string, message: Outgoing, limitMs: number): Promise<unknown>;
  /** Who handles messages about this. What it answers goes to whoever asked. */
  on(topic: string, handle: HandleMessage): void;
  /** A message has come. Rejects if it could not be handled. `wasOpened`: by somebody who may have done what it says, and died over it, or could not answer. */
  receive(text: string, wasOpened?: boolean): Promise<void>;
  /** A hint has come. Never rejects: what is not answered comes as a message. */
  hear(text: string): Promise<void>;
  /** A question that was asked directly, and what is answered to it. Undefined: not now; it was not looked at. */
  answer(text: string): Promise<string | undefined>;
  asking(): number;
  /** False: nobody is asked directly from here. */
  readonly asksDirectly: boolean;
  askingDirectly(): number;
}

export type HandleMessage = (body: unknown, from: string, wasOpened: boolean) => Promise<unknown>;

export interface Outgoing {
  readonly topic: string;
  /** What must stay in order: the job, the node or the session it is about. */
  readonly lane: string;
  readonly body: unknown;
  /** Of a question: it is soon outdated, and asked by a hint first. */
  readonly isFleeting?: boolean;
  /** Of a question: it is asked directly, if that can be. `only`: and otherwise not at all. */
  readonly isDirect?: boolean | 'only';
}

interface Envelope {
  readonly topic: string;
  readonly from: string;
  readonly ask?: string;
  /** It was sent as a hint, and so is its answer. */
  readonly isFleeting?: true;
  readonly body: unknown;
}

type Means = 'message' | 'hint';

type Reply =
  | { readonly answer: unknown }
  | { readonly code: string; readonly message: string }
  | { readonly absent: string };

/** It was not sent: nobody is there, or its inbox is full. */
export class Unsent extends SchedulerError {
  constructor(to: string) {
    super('SCHEDULER_DEPENDENCY_DOWN', `instance ${to} is not there, or takes no more messages`);
  }
}

const REPLY = 'reply';
/** Answers that are waited for; each is bounded in time, and this is far beyond what a sound cluster has under way. */
const MAX_ASKING = 20_000;
/** Far longer than a hint takes to and fro, far shorter than anybody waits for an answer. */
const UNHEARD_MS = 500;
/** Hints that are handled at a time; what comes on top comes again, as a message, and those can be held up. */
const MAX_HEARING = 1_000;
/** Far more than are asked while one is in doubt; the oldest is forgotten, and its handler asked again. */
const MOST_ANSWERED = 10_000;

/** What comes before the message itself, so that its lane is known without reading it. */
export const laneOf = (text: string): string => text.slice(0, text.indexOf(' '));

export function createMessageBus(deps: {
  inbox: Pick<Inbox, 'send'>;
  publishHint: (to: string, text: string) => void;
  clock: Clock;
  meter: Meter;
  self: () => { readonly instanceId: string };
  isFenced: () => boolean;
  /** With whom the message is for: one that is missed may have joined a moment ago. */
  living: (expected: string) => Promise<ReadonlyMap<string, Instance>>;
  newAskId: () => string;
  /** Absent: nobody is asked directly. */
  line?: DirectLine | undefined;
}): MessageBus {
  const { inbox, clock, line } = deps;
  const direct = line && createDirectAsks({ ...deps, line });
  const handlers = new Map<string, HandleMessage>();
  const asked = new Map<string, { settle: (reply: Reply) => void; cancel: Cancel }>();
  /** What was answered to those who asked directly, lately: they may not have heard it, and ask the same by message. */
  const answered = new Map<string, Promise<Reply>>();
  let hearing = 0;

  async function post(
    to: string,
    { topic, lane, body }: Outgoing,
    means: Means,
    ask?: string,
  ): Promise<boolean> {
    refuseIfFenced();
    const isThere = (await deps.living(to)).has(to);
    // It may have been frozen while it looked.
    refuseIfFenced();
    if (!isThere) return refused('not_living');
    const envelope: Envelope = {
      topic,
      from: deps.self().instanceId,
      body,
      ...(ask !== undefined && { ask }),
      ...(means === 'hint' && { isFleeting: true }),
    };
    const text = `${lane} ${JSON.stringify(envelope)}`;
    if (means === 'hint') {
      deps.publishHint(to, text);
      return true;
    }
    const sent = await inbox.send(to, text);
    return sent === 'sent' || refused(sent);
  }

  function refuseIfFenced(): void {
    if (deps.isFenced()) throw down('this instance may have been taken for dead and sends nothing');
  }

  function refused(reason: string): false {
    deps.meter.count('scheduler_cluster_messages_refused_total', { reason });
    return false;
  }

  function settle(askId: string, reply: Reply): void {
    const waiting = asked.get(askId);
    if (waiting === undefined) return;
    asked.delete(askId);
    waiting.cancel();
    waiting.settle(reply);
  }

  function awaitReply(askId: string, to: string, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      asked.set(askId, {
        settle: (reply) => ('answer' in reply ? resolve(reply.answer) : reject(faultOf(reply))),
        cancel: clock.after(limitMs, () => {
          asked.delete(askId);
          reject(down(`instance ${to} did not answer within ${limitMs} ms`));
        }),
      });
    });
  }

  async function answerOf(handle: () => Promise<unknown>): Promise<Reply> {
    try {
      // Null, because nothing else of "nothing" survives a message.
      return { answer: (await handle()) ?? null };
    } catch (fault) {
      return replyOf(fault);
    }
  }

  async function putDirectly(to: string, message: Outgoing, askId: string, limitMs: number): Promise<void> {
    const { topic, body } = message;
    const question: Envelope = { topic, from: deps.self().instanceId, ask: askId, body };
    const told = await direct?.ask(to, JSON.stringify(question), limitMs);
    const reply = told?.kind === 'answered' ? readText(told.text) : undefined;
    if (reply !== undefined) settle(askId, reply);
    else if (message.isDirect === 'only') settle(askId, replyOf(down(`instance ${to} did not answer`)));
    else if (asked.has(askId))
      put(to, message, 'message', askId, told !== undefined && told.kind !== 'unheard');
  }

  /**
   * Not waited for: whoever asks has a limit, which holds for a store that does not answer, too. `mayBeHeard`: it was asked before, and
   * nobody knows what came of it.
   */
  function put(to: string, message: Outgoing, means: Means, askId: string, mayBeHeard = false): void {
    post(to, message, means, askId).then(
      (isSent) => {
        if (!isSent) settle(askId, mayBeHeard ? replyOf(down(`instance ${to} is gone`)) : { absent: to });
      },
      // It may have been sent all the same, but whoever asked will not wait for what may never come.
      (fault: unknown) => settle(askId, { code: 'SCHEDULER_DEPENDENCY_DOWN', message: messageOf(fault) }),
    );
  }

  async function receive(text: string, wasOpened = false): Promise<void> {
    const envelope = JSON.parse(text.slice(text.indexOf(' ') + 1)) as Envelope;
    const { topic, from, ask, body, isFleeting = false } = envelope;
    if (topic === REPLY && ask !== undefined) return settle(ask, readReply(body));
    const handle = handlers.get(topic);
    if (handle === undefined) throw new Error(`nobody handles messages about ${topic}`);
    if (ask === undefined) {
      await handle(body, from, wasOpened);
      return;
    }
    const reply = await (answered.get(ask) ?? answerOf(() => handle(body, from, wasOpened)));
    await post(from, { topic: REPLY, lane: ask, body: reply }, isFleeting ? 'hint' : 'message', ask);
  }

  return {
    tell: (to, message) => post(to, message, 'message'),

    async ask(to, message, limitMs) {
      if (asked.size >= MAX_ASKING) throw down('too many answers of other instances are waited for');
      const askId = deps.newAskId();
      const reply = awaitReply(askId, to, limitMs);
      if (message.isDirect === 'only' || (message.isDirect === true && direct !== undefined))
        void putDirectly(to, message, askId, limitMs);
      else if (message.isFleeting !== true) put(to, message, 'message', askId);
      else {
        put(to, message, 'hint', askId);
        clock.after(Math.min(UNHEARD_MS, limitMs / 2), () => {
          if (asked.has(askId)) put(to, message, 'message', askId);
        });
      }
      return reply;
    },

    on: (topic, handle) => void handlers.set(topic, handle),
    receive,

    async hear(text) {
      if (deps.isFenced() || hearing >= MAX_HEARING) return;
      hearing += 1;
      // Of no use to anybody, here: whoever asked asks again.
      await receive(text).catch(() => undefined);
      hearing -= 1;
    },

    async answer(text) {
      const { topic, from, ask = '', body } = JSON.parse(text) as Envelope;
      const handle = handlers.get(topic);
      // Messages are held up here for the same reason.
      if (deps.isFenced() || handle === undefined) return undefined;
      const reply = answerOf(() => handle(body, from, false));
      answered.set(ask, reply);
      const [oldest = ''] = answered.keys();
      if (answered.size > MOST_ANSWERED) answered.delete(oldest);
      return JSON.stringify(await reply);
    },

    asking: () => asked.size,
    asksDirectly: direct !== undefined,
    askingDirectly: () => direct?.underWay() ?? 0,
  };
}

const replyOf = (fault: unknown): Reply => ({
  code: fault instanceof SchedulerError ? fault.code : 'INTERNAL_ERROR',
  message: messageOf(fault),
});

/** Undefined: it makes no sense. */
function readText(text: string): Reply | undefined {
  try {
    return readReply(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whoever asked must not wait for ever because of a reply that says nothing. */
function readReply(body: unknown): Reply {
  const reply = (body ?? {}) as { answer?: unknown; code?: unknown; message?: unknown };
  if (reply.answer !== undefined) return { answer: reply.answer };
  if (reply.code !== undefined) return { code: String(reply.code), message: String(reply.message) };
  throw new Error('a reply that says nothing');
}

const down = (message: string): SchedulerError => new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', message);

function faultOf(reply: Exclude<Reply, { answer: unknown }>): SchedulerError {
  if ('absent' in reply) return new Unsent(reply.absent);
  return new SchedulerError(isErrorCode(reply.code) ? reply.code : 'INTERNAL_ERROR', reply.message);
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
