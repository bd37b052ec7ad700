/** Confirmations of letters, gathered: one command at a time, and what comes meanwhile goes with the next. */
import type { Clock } from '../ports/clock.ts';

export interface Confirmations {
  add(letterId: string): void;
}

const MOST_PER_COMMAND = 64;

export function createConfirmations(deps: {
  clock: Clock;
  confirm: (letterIds: readonly string[]) => Promise<void>;
  /** Whether the store heard it or not: then the letters come again, and are confirmed again. */
  settled: (letterIds: readonly string[], fault?: unknown) => void;
}): Confirmations {
  const waiting: string[] = [];
  let isSending = false;

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const letterIds = waiting.splice(0, MOST_PER_COMMAND);
      try {
        await deps.confirm(letterIds);
        deps.settled(letterIds);
      } catch (fault) {
        deps.settled(letterIds, fault);
      }
    }
    isSending = false;
  }

  return {
    add(letterId) {
      waiting.push(letterId);
      if (isSending) return;
      isSending = true;
      // Not at once: letters that end together share a command.
      deps.clock.after(0, () => void send());
    },
  };
}
