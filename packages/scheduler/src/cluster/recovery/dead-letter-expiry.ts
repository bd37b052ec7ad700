/** Cold path: removes dead letters that are older than their retention: those of this instance, and those that removed instances left. */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { Log } from '../../ports/log.ts';

export interface DeadLetterExpiry {
  start(): void;
  stop(): void;
}

/** A dead letter is removed at most this share of its retention, or this long, after its end. */
const SHARE = 1 / 10;
const LONGEST_MS = 600_000;
const PURGE_STEP = 500;

export function createDeadLetterExpiry(deps: {
  readonly deadLetters: Pick<DeadLetters, 'purge' | 'orphaned'>;
  readonly instanceId: () => string;
  readonly retentionMs: number;
  readonly isFenced: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}): DeadLetterExpiry {
  const { deadLetters, retentionMs, clock, log } = deps;
  const everyMs = Math.min(LONGEST_MS, retentionMs * SHARE);
  let cancel: Cancel | undefined;

  async function purge(): Promise<void> {
    const diedBefore = clock.now() - retentionMs;
    for (const instanceId of new Set([deps.instanceId(), ...(await deadLetters.orphaned())])) {
      let purged = 0;
      for (let isDone = false; !isDone; ) {
        const step = await deadLetters.purge(instanceId, { diedBefore, max: PURGE_STEP });
        purged += step.purged;
        isDone = step.isDone;
      }
      if (purged > 0)
        log.info({ of_instance: instanceId, purged }, 'removed dead letters at the end of their time');
    }
  }

  async function turn(): Promise<void> {
    if (!deps.isFenced())
      await purge().catch((fault: unknown) =>
        log.warn({ err: fault }, 'old dead letters could not be removed; retrying'),
      );
    if (cancel !== undefined) cancel = clock.after(everyMs, () => void turn());
  }

  return {
    start() {
      cancel ??= clock.after(everyMs, () => void turn());
    },
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}
