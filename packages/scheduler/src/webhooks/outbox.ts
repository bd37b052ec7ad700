/** Background actor: sends the events of one receiver, each until it is accepted or too old. Bounded (I11). */
import { createFifo } from '../domain/fifo.ts';
import type { Chance } from '../ports/chance.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { CallResult } from '../ports/endpoint-caller.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventSubject, WebhookEvent } from './events.ts';

export interface OutboxSettings {
  /** Events that wait for their first or next try. */
  readonly maxWaiting: number;
  /** An event is given up when its next try would be later than this after its first. */
  readonly retryForMs: number;
}

export type DropReason = 'full' | 'expired' | 'erased' | 'removed' | 'stopping';

export interface Outbox {
  /** `subject`: whose texts the event contains. */
  offer(event: WebhookEvent, subject?: EventSubject): void;
  /** Drops the events of these subjects that were not accepted yet. A try under way goes on. */
  erase(isMeant: (subject: EventSubject) => boolean): void;
  waiting(): number;
  /** Resolves when no event is on its way or due now. */
  idle(): Promise<void>;
  close(reason: DropReason): void;
}

interface Entry {
  readonly event: WebhookEvent;
  readonly body: string;
  readonly subject: EventSubject | undefined;
  readonly since: number;
  tries: number;
  /** Of the next try. */
  cancel: Cancel | undefined;
}

const MOST_AT_ONCE = 8;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;

/** After so many tries: doubled each time, and up to a half shorter by chance, so that many events do not come together. */
export const backOffMs = (tries: number, chance: number): number =>
  Math.round(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (1 - chance / 2));

export function createOutbox(deps: {
  readonly name: string;
  readonly post: (body: string) => Promise<CallResult>;
  readonly settings: OutboxSettings;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly chance: Chance;
  readonly meter: Meter;
  readonly log: Log;
}): Outbox {
  const { name, post, settings, clock, chance, meter, log } = deps;
  /** All that are not accepted or dropped. */
  const held = new Map<string, Entry>();
  const due = createFifo<Entry>();
  let active = 0;
  let isClosed = false;
  let onIdle: (() => void)[] = [];

  function drop(entry: Pick<Entry, 'event'>, reason: DropReason, why?: string): void {
    const { type, id } = entry.event;
    meter.count('scheduler_webhooks_dropped_total', { type, reason });
    log.warn({ receiver: name, event_id: id, reason, ...(why && { why }) }, 'dropped an event for a webhook');
  }

  function discard(entry: Entry, reason: DropReason, why?: string): void {
    entry.cancel?.();
    held.delete(entry.event.id);
    due.delete(entry.event.id);
    drop(entry, reason, why);
  }

  function makeDue(entry: Entry): void {
    due.add(entry.event.id, entry);
    sendDue();
  }

  function sendDue(): void {
    while (active < MOST_AT_ONCE) {
      const [id, entry] = due.first() ?? [];
      if (id === undefined || entry === undefined) break;
      due.delete(id);
      active += 1;
      void send(entry);
    }
    if (active > 0 || due.size() > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  async function send(entry: Entry): Promise<void> {
    const { id, type } = entry.event;
    entry.tries += 1;
    const result = await post(entry.body);
    active -= 1;
    // Otherwise it was erased, or the receiver was removed, during the call.
    if (held.get(id) === entry) {
      if (result.kind === 'taken') {
        held.delete(id);
        meter.count('scheduler_webhooks_delivered_total', { type });
      } else retry(entry, result.reason);
    }
    sendDue();
  }

  function retry(entry: Entry, why: string): void {
    meter.count('scheduler_webhooks_retried_total', { type: entry.event.type });
    const waitMs = backOffMs(entry.tries, chance());
    if (clock.now() + waitMs - entry.since > settings.retryForMs) {
      discard(entry, 'expired', why);
      return;
    }
    if (entry.tries === 1)
      log.info({ receiver: name, event_id: entry.event.id, why }, 'a webhook will be sent again');
    entry.cancel = clock.after(waitMs, () => makeDue(entry));
  }

  return {
    offer(event, subject) {
      // An event that is repeated, for example by a takeover, is sent once.
      if (isClosed || held.has(event.id)) return;
      if (held.size >= settings.maxWaiting) {
        drop({ event }, 'full');
        return;
      }
      const since = clock.now();
      const entry: Entry = {
        event,
        body: JSON.stringify(event),
        subject,
        since,
        tries: 0,
        cancel: undefined,
      };
      held.set(event.id, entry);
      makeDue(entry);
    },
    erase(isMeant) {
      for (const entry of [...held.values()])
        if (entry.subject !== undefined && isMeant(entry.subject)) discard(entry, 'erased');
    },
    waiting: () => held.size,
    idle: () =>
      active === 0 && due.size() === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onIdle.push(resolve);
          }),
    close(reason) {
      isClosed = true;
      for (const entry of [...held.values()]) discard(entry, reason);
    },
  };
}
