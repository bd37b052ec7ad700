/** Confirmations of messages, gathered: one command at a time, and what comes meanwhile or within a moment goes with the next. */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { HandledMessages } from '../../ports/inbox.ts';

export interface Confirmations {
  add(messageId: string): void;
  /** Some of what waits, for whoever writes something in the same place anyway. */
  goAlong(): HandledMessages | undefined;
  /** What waits is sent now. */
  flush(): void;
  /** From now on nothing waits. */
  hurry(): void;
}

const MOST_PER_COMMAND = 256;

export function createConfirmations(deps: {
  clock: Clock;
  /** How long one may wait for others. A message whose confirmation is lost comes again and is known. */
  waitMs: number;
  /** So many do not wait. */
  most?: number | undefined;
  confirm: (messageIds: readonly string[]) => Promise<void>;
  /** Whether the store heard it or not: then the messages come again, and are confirmed again. */
  settled: (messageIds: readonly string[], fault?: unknown) => void;
}): Confirmations {
  const { clock, most = MOST_PER_COMMAND } = deps;
  const waiting: string[] = [];
  let { waitMs } = deps;
  let isSending = false;
  let cancel: Cancel | undefined;

  async function send(): Promise<void> {
    cancel?.();
    cancel = undefined;
    isSending = true;
    while (waiting.length > 0) {
      const messageIds = waiting.splice(0, MOST_PER_COMMAND);
      try {
        await deps.confirm(messageIds);
        deps.settled(messageIds);
      } catch (fault) {
        deps.settled(messageIds, fault);
      }
    }
    isSending = false;
  }

  function flush(): void {
    if (!isSending && waiting.length > 0) void send();
  }

  return {
    add(messageId) {
      waiting.push(messageId);
      if (isSending) return;
      if (waiting.length >= most) flush();
      // Not at once: messages that end together share a command.
      else cancel ??= clock.after(waitMs, flush);
    },
    goAlong() {
      if (waiting.length === 0) return undefined;
      const messageIds = waiting.splice(0, MOST_PER_COMMAND);
      if (waiting.length === 0) {
        cancel?.();
        cancel = undefined;
      }
      return { messageIds, settle: (fault) => deps.settled(messageIds, fault) };
    },
    flush,
    hurry() {
      waitMs = 0;
      flush();
    },
  };
}
