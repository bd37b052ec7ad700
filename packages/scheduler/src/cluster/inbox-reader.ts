/** Background actor: reads this instance's inbox, has each letter handled once, and looks after those that got stuck. */
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Inbox, Letter } from '../ports/inbox.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';

export interface InboxReaderSettings {
  readonly maxLetters: number;
  readonly waitMs: number;
  readonly scanIntervalMs: number;
  readonly idleMs: number;
  /** A read that has not come back after this long never will: another takes its place. */
  readonly watchdogMs: number;
}

export interface InboxReader {
  start(): void;
  /** Resolves when no letter is being handled. */
  stop(): Promise<void>;
}

/** Letters that were handled and may come again: a confirmation can be lost. */
const MAX_REMEMBERED = 10_000;
const AFTER_A_FAULT_MS = 200;

export function createInboxReader(deps: {
  instanceId: string;
  inbox: Inbox;
  clock: Clock;
  log: Log;
  meter: Meter;
  settings: InboxReaderSettings;
  /** Rejects if the letter could not be handled: it comes again, and is dead after too many tries. */
  handle: (body: string) => Promise<void>;
  /** The reader is stuck: a new connection may help. */
  stuck?: () => void;
}): InboxReader {
  const { instanceId, inbox, clock, log, meter, settings } = deps;
  const handled = new Set<string>();
  let isStopped = false;
  /** Only the newest loop goes on: an older one was stuck and given up. */
  let generation = 0;
  /** When the read that is under way began. */
  let readingSince: number | undefined;
  let cancelScan: Cancel | undefined;
  let underWay: Promise<void> = Promise.resolve();

  function remember(letterId: string): void {
    handled.add(letterId);
    const [oldest] = handled;
    if (handled.size > MAX_REMEMBERED && oldest !== undefined) handled.delete(oldest);
  }

  async function handleOne({ letterId, body, deliveries }: Letter): Promise<boolean> {
    if (handled.has(letterId)) return true;
    try {
      await deps.handle(body);
      remember(letterId);
      return true;
    } catch (fault) {
      meter.count('scheduler_inbox_failures_total');
      log.warn(
        { letter_id: letterId, deliveries, err: fault },
        'a letter could not be handled; it comes again',
      );
      return false;
    }
  }

  /** One after the other, in the order they came; a failure keeps only itself back. */
  async function handleAll(letters: readonly Letter[]): Promise<void> {
    const done: string[] = [];
    for (const letter of letters) if (await handleOne(letter)) done.push(letter.letterId);
    if (done.length > 0) await inbox.confirm(instanceId, done);
  }

  const inTurn = (letters: readonly Letter[]): Promise<void> => {
    underWay = underWay.then(() => handleAll(letters)).catch(noteFault);
    return underWay;
  };

  function noteFault(fault: unknown): void {
    log.warn({ err: fault }, 'the inbox could not be read or confirmed');
  }

  async function read(own: number): Promise<void> {
    while (!isStopped && own === generation) {
      readingSince = clock.now();
      try {
        const letters = await inbox.take(instanceId, { max: settings.maxLetters, waitMs: settings.waitMs });
        if (own === generation) readingSince = undefined;
        await inTurn(letters);
      } catch (fault) {
        noteFault(fault);
        await new Promise<void>((resolve) => clock.after(AFTER_A_FAULT_MS, resolve));
      }
    }
  }

  async function scan(): Promise<void> {
    if (readingSince !== undefined && clock.now() - readingSince > settings.watchdogMs) {
      meter.count('scheduler_inbox_reader_restarts_total');
      log.error({ instance_id: instanceId }, 'the reader of the inbox is stuck; another takes its place');
      deps.stuck?.();
      generation += 1;
      void read(generation);
    }
    try {
      const { maxLetters: max, idleMs } = settings;
      const { letters, died } = await inbox.takeAgain(instanceId, { max, idleMs });
      if (died > 0) meter.count('scheduler_dead_letters_total', undefined, died);
      if (letters.length > 0) await inTurn(letters);
    } catch (fault) {
      noteFault(fault);
    }
    if (!isStopped) cancelScan = clock.after(settings.scanIntervalMs, () => void scan());
  }

  return {
    start() {
      void read(generation);
      cancelScan = clock.after(settings.scanIntervalMs, () => void scan());
    },
    async stop() {
      isStopped = true;
      cancelScan?.();
      await underWay;
    },
  };
}
