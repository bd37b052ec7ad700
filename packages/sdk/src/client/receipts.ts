/** Which outcomes have arrived: tells repeats apart, and acknowledges the rest, several at once. */
import type { Cancel, SessionClock } from './clock.ts';

export interface Receipts {
  /** The highest number so far; undefined: none has come in this session. */
  highest(): number | undefined;
  /** False: it was here before. Without a number there are no repeats. */
  isNew(deliverySeq: number | undefined): boolean;
  /** It was handed to the application, or had been before: to be acknowledged soon. */
  arrived(): void;
  opened(isResumed: boolean): void;
  /** Acknowledges now what is still due. */
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
      // What was sent before the loss may never have arrived: the scheduler would repeat what is here.
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
