/**
 * Background actor: says every few seconds how much this instance has to do, for operators to see anywhere. What else waits to be written in
 * the slot of the instance may go along, so it is said while there is nothing new, too. Cold path.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Figures, InstanceFigures } from '../../ports/instance-figures.ts';
import type { Log } from '../../ports/log.ts';

export interface FiguresReporter {
  start(): void;
  stop(): void;
}

const INTERVAL_MS = 2_000;
/** Two words that were lost do not make it silent. */
const LIVES = 3;

export function createFiguresReporter(deps: {
  figures: Pick<InstanceFigures, 'write'>;
  clock: Clock;
  log: Log;
  instanceId: () => string;
  read: () => Figures;
  /** It may have been taken for dead: it writes nothing then. */
  isFenced: () => boolean;
  intervalMs?: number;
}): FiguresReporter {
  const { figures, clock, log, intervalMs = INTERVAL_MS } = deps;
  let cancel: Cancel | undefined;
  let isStopped = false;

  async function report(): Promise<void> {
    if (!deps.isFenced()) {
      try {
        await figures.write(deps.instanceId(), deps.read(), LIVES * intervalMs);
      } catch (fault) {
        // Nothing depends on it, and whoever renews the presence says louder that the store is away.
        log.debug({ err: fault }, 'the figures of this instance were not written');
      }
    }
    if (!isStopped) cancel = clock.after(intervalMs, () => void report());
  }

  return {
    start: () => void report(),
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}
