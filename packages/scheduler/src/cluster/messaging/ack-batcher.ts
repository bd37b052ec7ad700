/**
 * Gathers acknowledgements of handled messages. One command is under way at a time; messages that end while it is, or within
 * `waitMs` of the first one, share the next command.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';

export interface AckBatcher {
  add(messageId: string): void;
  /** Sends the waiting acknowledgements now. */
  flush(): void;
  /** From now on no acknowledgement waits for others. */
  hurry(): void;
}

const MOST_PER_COMMAND = 256;

export function createAckBatcher(deps: {
  clock: Clock;
  /** How long an acknowledgement may wait for others. If it is lost, the message is read again and recognized. */
  waitMs: number;
  /** At this number of waiting acknowledgements they are sent at once. */
  most?: number | undefined;
  ack: (messageIds: readonly string[]) => Promise<void>;
  /** Called after every command. With a fault the messages are read again, and acknowledged again. */
  settled: (messageIds: readonly string[], fault?: unknown) => void;
}): AckBatcher {
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
        await deps.ack(messageIds);
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
      else cancel ??= clock.after(waitMs, flush);
    },
    flush,
    hurry() {
      waitMs = 0;
      flush();
    },
  };
}
