/** Background actor: writes every few seconds how much this instance has to do, for operators to read on any instance. Cold path. */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Figures, InstanceFigures } from '../../ports/instance-figures.ts';
import type { Log } from '../../ports/log.ts';

export interface FiguresReporter {
  start(): void;
  stop(): void;
}

const INTERVAL_MS = 2_000;
/** The figures outlive two failed writes. */
const LIVES = 3;

export function createFiguresReporter(deps: {
  figures: Pick<InstanceFigures, 'write'>;
  clock: Clock;
  log: Log;
  instanceId: () => string;
  read: () => Figures;
  /** A fenced instance may have been declared dead: it writes nothing. */
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
        // Nothing depends on the figures, and the renewal of the presence logs that Redis is away.
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
