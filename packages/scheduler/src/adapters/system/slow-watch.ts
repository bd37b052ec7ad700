/** Counts slow operations and logs some of them. A fast operation costs one comparison. */
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { LockName, PathName, SlowWatch } from '../../ports/slow-watch.ts';

export interface SlowWatchSettings {
  /** 0: waits are not watched. */
  readonly lockWaitWarnMs: number;
  /** 0: paths are not watched. */
  readonly pathWarnMs: number;
}

/** On a slow machine everything is slow: the log shows examples, the metrics count. */
const LOG_EVERY_MS = 1_000;

export function createSlowWatch(deps: {
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'warn'>;
  meter: Pick<Meter, 'count'>;
  settings: SlowWatchSettings;
}): SlowWatch {
  const { clock, log, meter, settings } = deps;
  const lockThreshold = settings.lockWaitWarnMs || Number.POSITIVE_INFINITY;
  const pathThreshold = settings.pathWarnMs || Number.POSITIVE_INFINITY;
  const logWait = createSampling(clock);
  const logPath = createSampling(clock);

  return {
    waited(lock, ms) {
      if (!(ms >= lockThreshold)) return;
      meter.count('scheduler_slow_lock_wait_total', { lock });
      logWait(lock, (suppressed) =>
        log.warn(
          { lock, wait_ms: round(ms), threshold_ms: settings.lockWaitWarnMs, suppressed },
          'slow wait',
        ),
      );
    },
    took(path, ms) {
      if (!(ms >= pathThreshold)) return;
      meter.count('scheduler_slow_path_total', { path });
      logPath(path, (suppressed) =>
        log.warn({ path, took_ms: round(ms), threshold_ms: settings.pathWarnMs, suppressed }, 'slow path'),
      );
    },
  };
}

const round = (ms: number): number => Math.round(ms * 10) / 10;

/** At most one per second and name; the names are few and fixed. */
function createSampling(clock: Pick<Clock, 'now'>) {
  const samples = new Map<LockName | PathName, { loggedAt: number; suppressed: number }>();
  return (name: LockName | PathName, write: (suppressed: number) => void): void => {
    const now = clock.now();
    const sample = samples.get(name);
    if (sample !== undefined && now - sample.loggedAt < LOG_EVERY_MS) {
      sample.suppressed += 1;
      return;
    }
    samples.set(name, { loggedAt: now, suppressed: 0 });
    write(sample?.suppressed ?? 0);
  };
}
