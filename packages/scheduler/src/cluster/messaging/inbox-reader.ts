/**
 * Background actor: reads this instance's inbox, has each message handled once, and takes up messages that got stuck.
 *
 * Messages of one lane are handled one at a time, in the order they came. Lanes do not wait for one another, and reading goes on
 * meanwhile, because a handler may wait for a reply that lies further behind in the inbox. Only `maxHandling` bounds the messages
 * under way, so a handler must end by itself. A message that fails delays only itself: it is read again later, before the messages
 * that wait in its lane by then, but after those handled meanwhile. Messages that a former process read and did not acknowledge are
 * read again after `idleMs`, in their order, possibly after newer messages. A message is not read again while it is being handled,
 * however long that takes.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import { sleep } from '../../domain/with-timeout.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import { INBOX_IDLE_MS, type Inbox, type InboxMessage, type TenantOfMessage } from '../../ports/inbox.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import { createAckBatcher } from './ack-batcher.ts';
import { createMessageLanes } from './message-lanes.ts';

export interface InboxReaderSettings {
  /** Messages of one read. */
  readonly maxMessages: number;
  readonly waitMs: number;
  readonly scanIntervalMs: number;
  /** Stuck messages of one scan. */
  readonly scanCount: number;
  readonly idleMs: number;
  /** If no read succeeds for this long the reader is stuck and is replaced. Longer than `waitMs`. */
  readonly watchdogMs: number;
  /** Messages under way, from the read to the answer to their acknowledgement. At this number reading pauses. */
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
  /** Stops reading. Resolves when no message is under way, or after `stopMs`; the remaining messages are read again by the instance that takes over. */
  stop(): Promise<void>;
  /** Messages under way. */
  handling(): number;
}

/** Handled messages that are recognized when they are read again: an acknowledgement can be lost. */
const MAX_REMEMBERED = 10_000;
/** Much longer than an acknowledgement can be under way: after `idleMs` without one the message is read again. */
const REMEMBERED_MS = 600_000;
const AFTER_A_FAULT_MS = 200;
const MAX_HANDLING = 1_024;
const STOP_MS = 5_000;
/** How often the reader extends the life of its inbox. */
const KEEP_OPEN_MS = INBOX_IDLE_MS / 8;

export function createInboxReader(deps: {
  instanceId: string;
  inbox: Inbox;
  clock: Clock;
  log: Log;
  meter: Meter;
  settings: InboxReaderSettings;
  /** Messages that must stay in order share a lane. */
  laneOf: (body: string) => string;
  /** Rejects if the message could not be handled: it is read again, and is dead after too many deliveries. `wasOpened`: it was read before. */
  handle: (body: string, wasOpened: boolean) => Promise<void>;
  tenantOf?: TenantOfMessage;
  /** This instance may have been declared dead: it reads and handles nothing, and messages already read are read again. */
  isFenced?: () => boolean;
  /** The reader is stuck: a new connection may help. */
  stuck?: () => void;
}): InboxReader {
  const { instanceId, inbox, clock, log, meter, settings, isFenced = () => false } = deps;
  const { maxHandling = MAX_HANDLING, ackAfterMs = 0, stopMs = STOP_MS } = settings;
  const handled = createBoundedMap<string, true>({
    max: MAX_REMEMBERED,
    maxAgeMs: REMEMBERED_MS,
    now: clock.now,
  });
  /** From the read until the acknowledgement is answered. */
  const underWay = new Set<string>();
  const lanes = createMessageLanes({ laneOf, handle });
  const acks = createAckBatcher({
    clock,
    waitMs: ackAfterMs,
    most: settings.ackAt,
    ack: (messageIds) => inbox.ack(instanceId, messageIds),
    settled(messageIds, fault) {
      if (fault !== undefined) noteFault(fault);
      for (const messageId of messageIds) end(messageId);
    },
  });
  let ended: (() => void)[] = [];
  let isStopped = false;
  let isFaulty = false;
  let openedAt = clock.now();
  /** Only the newest loop goes on: an older one was stuck and is abandoned. */
  let generation = 0;
  let cancelScan: Cancel | undefined;
  let cancelWatchdog: Cancel | undefined;

  /** The handler refuses a malformed message, so it needs a lane as well. */
  function laneOf(body: string): string {
    try {
      return deps.laneOf(body);
    } catch {
      return '';
    }
  }

  async function handle({ messageId, body, deliveries }: InboxMessage): Promise<void> {
    if (isFenced()) return end(messageId);
    try {
      await deps.handle(body, deliveries > 1);
      handled.set(messageId, true);
      acks.add(messageId);
      // Reading has paused, so no further acknowledgement will come.
      if (room() < 1) acks.flush();
    } catch (fault) {
      meter.count('scheduler_inbox_failures_total');
      log.warn(
        { message_id: messageId, deliveries, err: fault },
        'could not handle a message; retrying later',
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

  function end(messageId: string): void {
    underWay.delete(messageId);
    const waiting = ended;
    ended = [];
    for (const wake of waiting) wake();
  }

  const nextEnd = (): Promise<void> => new Promise((resolve) => ended.push(resolve));
  const room = (): number => maxHandling - underWay.size;

  function noteFault(fault: unknown): void {
    if (isStopped) return;
    // Once per outage: the reader retries several times a second.
    if (!isFaulty) log.warn({ err: fault }, 'could not read or acknowledge messages of the inbox');
    isFaulty = true;
  }

  async function read(own: number): Promise<void> {
    const isCurrent = (): boolean => !isStopped && own === generation;
    while (isCurrent()) {
      if (isFenced()) await sleep(clock, AFTER_A_FAULT_MS).then(calmWatchdog);
      else if (room() < 1) await waitForRoom();
      else if (!(await readOnce(own)) && isCurrent()) await sleep(clock, AFTER_A_FAULT_MS);
    }
  }

  /** False if the next read should wait. */
  async function readOnce(own: number): Promise<boolean> {
    const begunAt = clock.now();
    try {
      const max = Math.min(settings.maxMessages, room());
      const messages = await inbox.take(instanceId, { max, waitMs: settings.waitMs });
      // After a stop the messages are for the instance that takes over.
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

  /** Without a limit: a reader that waits for its handlers is not stuck. */
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

  /** A read that returned empty before its time found no inbox: Redis has lost it. */
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
    log.error({}, 'the inbox reader is stuck; starting another');
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
        const limits = { max, idleMs: settings.idleMs, except: underWay, tenantOf: deps.tenantOf };
        const { messages, died } = await inbox.takeAgain(instanceId, limits);
        if (died > 0) meter.count('scheduler_phase2_dlq_moved_total', undefined, died);
        if (messages.length > 0) meter.count('scheduler_phase2_reclaimed_total', undefined, messages.length);
        if (!isStopped) accept(messages);
        hasMore = messages.length + died === max;
        // As Redis counts them, so messages that failed and wait for their retry are included.
        meter.gauge('scheduler_phase2_inbox_pending', (await inbox.size(instanceId)).delivered);
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
      isStopped = true;
      cancelScan?.();
      cancelWatchdog?.();
      acks.hurry();
      let isLate = false;
      const tooLate = sleep(clock, stopMs).then(() => {
        isLate = true;
      });
      while (underWay.size > 0 && !isLate) await Promise.race([nextEnd(), tooLate]);
    },
    handling: () => underWay.size,
  };
}
