/** Records which outcomes have arrived: detects repeats, and acknowledges several outcomes with one message. */
import type { Cancel, SessionClock } from './clock.ts';

export interface Receipts {
  /** The highest number so far; undefined: no outcome has arrived in this session. */
  highest(): number | undefined;
  /** False: a repeat. Outcomes without a number never repeat. */
  isNew(deliverySeq: number | undefined): boolean;
  /** The application has received the outcome, now or before: acknowledge it soon. */
  arrived(): void;
  opened(isResumed: boolean): void;
  /** Acknowledges immediately. */
  flush(): void;
  stop(): void;
}

export function createReceipts(deps: {
  readonly clock: SessionClock;
  readonly delayMs: number;
  /** False: not sent. */
  readonly acknowledge: (deliverySeq: number) => boolean;
}): Receipts {
  let highest: number | undefined;
  let isDue = false;
  let cancel: Cancel | undefined;

  function flush(): void {
    cancel?.();
    cancel = undefined;
    if (isDue && highest !== undefined && deps.acknowledge(highest)) isDue = false;
  }

  function arrived(): void {
    if (highest === undefined) return;
    isDue = true;
    cancel ??= deps.clock.after(deps.delayMs, flush);
  }

  return {
    highest: () => highest,
    isNew(deliverySeq) {
      if (deliverySeq === undefined) return true;
      if (highest !== undefined && deliverySeq <= highest) return false;
      highest = deliverySeq;
      return true;
    },
    arrived,
    opened(isResumed) {
      // Acknowledgements sent before the loss may not have arrived: without a new one the scheduler would repeat the
      // outcomes.
      if (isResumed) arrived();
      else {
        highest = undefined;
        isDue = false;
      }
      flush();
    },
    flush,
    stop: () => cancel?.(),
  };
}
