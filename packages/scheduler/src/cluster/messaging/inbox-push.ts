/**
 * Background actor: has messages told as they are sent, so that nobody has to ask for them, for as long as what comes unasked is
 * welcome. Otherwise, and wherever a store cannot tell, they wait to be taken. What was told and must not be handled yet waits here:
 * as far as the store knows it was handed out, and would come again only after a while.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { InboxMessage } from '../../ports/inbox.ts';

export interface InboxPush {
  /** Something has changed, or a while has passed. */
  look(): void;
  /** Resolves when nothing more is told. */
  close(): Promise<void>;
}

/** A store that refused is not asked again before. */
const AFTER_A_FAULT_MS = 1_000;
/** How long it takes to notice that what was told may be handled. */
const HELD_UP_MS = 100;

export function createInboxPush(deps: {
  listen: (hear: (messages: readonly InboxMessage[]) => void) => Promise<() => Promise<void>>;
  accept: (messages: readonly InboxMessage[]) => void;
  /** Nothing may be handled now. */
  isHeldUp: () => boolean;
  /** Messages that may wait for that to end; what is told beyond comes again. */
  maxWaiting: number;
  /** Whether messages are welcome that nobody asked for. */
  isWelcome: (isListening: boolean) => boolean;
  clock: Clock;
  failed: (fault: unknown) => void;
}): InboxPush {
  let stop: (() => Promise<void>) | undefined;
  let changing: Promise<void> | undefined;
  let notBefore = 0;
  let isClosed = false;
  let waiting: InboxMessage[] = [];
  let lookingAgain: Cancel | undefined;

  const isListening = (): boolean => stop !== undefined;
  const isWanted = (): boolean => !isClosed && deps.isWelcome(isListening());

  async function change(): Promise<void> {
    try {
      while (isWanted() !== isListening()) {
        const before = stop;
        stop = undefined;
        if (before === undefined) stop = await deps.listen(hear);
        else await before();
      }
    } catch (fault) {
      notBefore = deps.clock.now() + AFTER_A_FAULT_MS;
      deps.failed(fault);
    }
  }

  function hear(messages: readonly InboxMessage[]): void {
    waiting.push(...messages.slice(0, deps.maxWaiting - waiting.length));
    look();
  }

  function handOn(): void {
    if (waiting.length === 0) return;
    if (deps.isHeldUp()) {
      // Whoever stops leaves them to whoever adopts the inbox.
      if (isClosed) return;
      lookingAgain ??= deps.clock.after(HELD_UP_MS, () => {
        lookingAgain = undefined;
        look();
      });
      return;
    }
    const told = waiting;
    waiting = [];
    deps.accept(told);
  }

  function look(): void {
    handOn();
    if (changing !== undefined || deps.clock.now() < notBefore || isWanted() === isListening()) return;
    changing = change().finally(() => {
      changing = undefined;
    });
  }

  return {
    look,
    async close() {
      isClosed = true;
      lookingAgain?.();
      notBefore = 0;
      await changing;
      look();
      await changing;
    },
  };
}
