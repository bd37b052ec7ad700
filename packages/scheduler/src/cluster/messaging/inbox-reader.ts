/**
 * Background actor: reads this instance's inbox or listens to it, has each message handled once, and looks after those that got stuck.
 *
 * What is promised: messages of one lane are handled one at a time, in the order they came; lanes do not wait for one another, and
 * reading goes on meanwhile, because a handler may wait for an answer that lies further behind. Only `maxHandling` messages bound
 * it: handlers must end by themselves. A message that fails keeps back only itself: it comes again later, before what waits in its
 * lane by then, but after what was handled meanwhile. What a former process left unhandled comes again after `idleMs`, in its
 * order, maybe after newer messages; so may one that is read where being told begins or ends. A message that is being handled is not handed out again however long it takes.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import { INBOX_IDLE_MS, type Inbox, type InboxMessage, MOST_TOLD } from '../../ports/inbox.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import { createAckBatcher } from './ack-batcher.ts';
import { createInboxPush } from './inbox-push.ts';
import { createMessageLanes } from './message-lanes.ts';

export interface InboxReaderSettings {
  /** Messages of one read. */
  readonly maxMessages: number;
  readonly waitMs: number;
  readonly scanIntervalMs: number;
  /** Stuck messages of one look. */
  readonly scanCount: number;
  readonly idleMs: number;
  /** Without a read that came back well for this long the reader is stuck: another takes its place. Longer than `waitMs`. */
  readonly watchdogMs: number;
  /** Messages under way, from being read to being confirmed; at it reading pauses. What is told comes on top, up to MOST_TOLD. */
  readonly maxHandling?: number;
  /** How long the acknowledgement of a handled message may wait for others. */
  readonly ackAfterMs?: number;
  /** At this number of waiting acknowledgements they are sent at once: unacknowledged messages take room in the inbox. */
  readonly ackAt?: number;
  /** How long `stop` waits for messages under way. */
  readonly stopMs?: number;
}

export interface InboxReader {
  start(): void;
  /** Reads no more. Resolves when no message is under way, or those that are take too long; they come again elsewhere. */
  stop(): Promise<void>;
  /** Messages under way. */
  handling(): number;
}

/** Messages that were handled and may come again: a confirmation can be lost. */
const MAX_REMEMBERED = 10_000;
const AFTER_A_FAULT_MS = 200;
const MAX_HANDLING = 1_024;
const STOP_MS = 5_000;
/** How often it says that its inbox is still wanted. */
const KEEP_OPEN_MS = INBOX_IDLE_MS / 8;

export function createInboxReader(deps: {
  instanceId: string;
  inbox: Inbox;
  clock: Clock;
  log: Log;
  meter: Meter;
  settings: InboxReaderSettings;
  /** What must stay in order shares a lane. */
  laneOf: (body: string) => string;
  /** Rejects if the message could not be handled: it comes again, and is dead after too many tries. `wasOpened`: it was handed out before. */
  handle: (body: string, wasOpened: boolean) => Promise<void>;
  /** This instance may have been taken for dead: nothing is read or handled, and what was read comes again. */
  isFenced?: () => boolean;
  /** The reader is stuck: a new connection may help. */
  stuck?: () => void;
}): InboxReader {
  const { instanceId, inbox, clock, log, meter, settings, isFenced = () => false } = deps;
  const { maxHandling = MAX_HANDLING, ackAfterMs = 0, stopMs = STOP_MS } = settings;
  const handled = new Set<string>();
  /** From being read until the confirmation is answered. */
  const underWay = new Set<string>();
  const lanes = createMessageLanes({ laneOf, handle });
  const acks = createAckBatcher({
    clock,
    waitMs: ackAfterMs,
    most: settings.ackAt,
    ack: (messageIds) => inbox.confirm(instanceId, messageIds),
    settled(messageIds, fault) {
      if (fault !== undefined) noteFault(fault);
      for (const messageId of messageIds) end(messageId);
    },
  });
  const ear = createInboxPush({
    async listen(hear) {
      const stop = await inbox.listen(instanceId, hear);
      isDeaf = false;
      return stop;
    },
    accept: hear,
    isHeldUp: isFenced,
    maxWaiting: maxHandling,
    // What comes unasked cannot be held up: well before there is no room for it, it has to wait for a read.
    isWelcome: (isListening) =>
      !isStopped && !isFenced() && lanes.size() < maxHandling * (isListening ? 1 / 2 : 1 / 4),
    clock,
    failed: noteDeaf,
  });
  let ended: (() => void)[] = [];
  let isStopped = false;
  let isFaulty = false;
  let isDeaf = false;
  let openedAt = clock.now();
  /** Only the newest loop goes on: an older one was stuck and given up. */
  let generation = 0;
  let cancelScan: Cancel | undefined;
  let cancelWatchdog: Cancel | undefined;

  /** A message that makes no sense is for the handler to refuse. */
  function laneOf(body: string): string {
    try {
      return deps.laneOf(body);
    } catch {
      return '';
    }
  }

  function remember(messageId: string): void {
    handled.add(messageId);
    if (handled.size <= MAX_REMEMBERED) return;
    const [oldest] = handled;
    if (oldest !== undefined) handled.delete(oldest);
  }

  async function handle({ messageId, body, deliveries }: InboxMessage): Promise<void> {
    if (isFenced()) return end(messageId);
    try {
      await deps.handle(body, deliveries > 1);
      remember(messageId);
      acks.add(messageId);
      // Nothing is read meanwhile that it could wait for.
      if (room() < 1) acks.flush();
    } catch (fault) {
      meter.count('scheduler_inbox_failures_total');
      log.warn(
        { message_id: messageId, deliveries, err: fault },
        'a message could not be handled; it comes again',
      );
      end(messageId);
    }
  }

  function accept(messages: readonly InboxMessage[]): void {
    for (const message of messages) {
      if (underWay.has(message.messageId)) continue;
      underWay.add(message.messageId);
      if (handled.has(message.messageId)) acks.add(message.messageId);
      else lanes.add(message);
    }
  }

  function hear(messages: readonly InboxMessage[]): void {
    // What is told after a stop is for whoever adopts the inbox. What is read meanwhile may take the room there was for what is told.
    if (!isStopped) accept(messages.slice(0, Math.max(0, room() + MOST_TOLD)));
  }

  function end(messageId: string): void {
    underWay.delete(messageId);
    const waiting = ended;
    ended = [];
    for (const wake of waiting) wake();
  }

  const nextEnd = (): Promise<void> => new Promise((resolve) => ended.push(resolve));
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  const room = (): number => maxHandling - underWay.size;

  function noteFault(fault: unknown): void {
    if (isStopped) return;
    // Once per outage: it is tried several times a second.
    if (!isFaulty) log.warn({ err: fault }, 'the inbox could not be read or confirmed');
    isFaulty = true;
  }

  function noteDeaf(fault: unknown): void {
    // Once: where it may not listen it never will, and every message is read.
    if (!isDeaf) log.warn({ err: fault }, 'messages cannot be listened to; they are read');
    isDeaf = true;
  }

  async function read(own: number): Promise<void> {
    const isCurrent = (): boolean => !isStopped && own === generation;
    while (isCurrent()) {
      ear.look();
      if (isFenced()) await pause(AFTER_A_FAULT_MS).then(calmWatchdog);
      else if (room() < 1) await waitForRoom();
      else if (!(await readOnce(own)) && isCurrent()) await pause(AFTER_A_FAULT_MS);
    }
  }

  /** False if it is not worth trying again at once. */
  async function readOnce(own: number): Promise<boolean> {
    const begunAt = clock.now();
    try {
      const max = Math.min(settings.maxMessages, room());
      const messages = await inbox.take(instanceId, { max, waitMs: settings.waitMs });
      // What comes after a stop is for whoever adopts the inbox.
      if (!isStopped) accept(messages);
      if (own !== generation) return false;
      calmWatchdog();
      isFaulty = false;
      return messages.length > 0 || clock.now() - begunAt >= settings.waitMs / 2 || !(await reopen());
    } catch (fault) {
      if (own === generation) noteFault(fault);
      return false;
    }
  }

  /** As long as it takes: whoever waits for room is not stuck. */
  async function waitForRoom(): Promise<void> {
    cancelWatchdog?.();
    acks.flush();
    await nextEnd();
    calmWatchdog();
  }

  function calmWatchdog(): void {
    cancelWatchdog?.();
    if (!isStopped) cancelWatchdog = clock.after(settings.watchdogMs, replaceReader);
  }

  /** Whoever does not wait for messages has no inbox: the store has lost it. */
  async function reopen(): Promise<boolean> {
    if (isStopped || isFenced()) return false;
    await inbox.open(instanceId);
    openedAt = clock.now();
    return true;
  }

  async function keepOpen(): Promise<void> {
    try {
      if (clock.now() - openedAt >= KEEP_OPEN_MS) await reopen();
    } catch (fault) {
      noteFault(fault);
    }
  }

  function replaceReader(): void {
    meter.count('scheduler_inbox_reader_restarts_total');
    log.error({ instance_id: instanceId }, 'the reader of the inbox is stuck; another takes its place');
    deps.stuck?.();
    begin();
  }

  function begin(): void {
    generation += 1;
    calmWatchdog();
    void read(generation);
  }

  async function scan(): Promise<void> {
    let hasMore = false;
    await keepOpen();
    const max = Math.min(settings.scanCount, room());
    if (max > 0 && !isFenced()) {
      try {
        const limits = { max, idleMs: settings.idleMs, except: underWay };
        const { messages, died } = await inbox.takeAgain(instanceId, limits);
        if (died > 0) meter.count('scheduler_phase2_dlq_moved_total', undefined, died);
        if (messages.length > 0) meter.count('scheduler_phase2_reclaimed_total', undefined, messages.length);
        if (!isStopped) accept(messages);
        hasMore = messages.length + died === max;
        // Here as everywhere: what the store says is pending, those included that failed and lie until it is their turn again.
        meter.gauge('scheduler_phase2_inbox_pending', (await inbox.size(instanceId)).handedOut);
      } catch (fault) {
        noteFault(fault);
      }
    }
    scanLater(hasMore ? 0 : settings.scanIntervalMs);
  }

  function scanLater(delayMs: number): void {
    if (!isStopped) cancelScan = clock.after(delayMs, () => void scan());
  }

  return {
    start() {
      begin();
      scanLater(settings.scanIntervalMs);
    },
    async stop() {
      // First, and with an open ear: what was told by then nobody else would have soon.
      await Promise.race([ear.close(), pause(stopMs)]);
      isStopped = true;
      cancelScan?.();
      cancelWatchdog?.();
      acks.hurry();
      let isLate = false;
      const tooLate = pause(stopMs).then(() => {
        isLate = true;
      });
      while (underWay.size > 0 && !isLate) await Promise.race([nextEnd(), tooLate]);
    },
    handling: () => underWay.size,
  };
}
