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

/**
 * On a slow machine everything is slow: one line sums up a minute, and while it stays slow every line sums up twice the
 * time of the one before. The metrics count.
 */
const FIRST_INTERVAL_MS = 60_000;
const LONGEST_INTERVAL_MS = 60 * 60_000;

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
      logWait(lock, ms, (sum) =>
        log.warn({ lock, ...sum, threshold_ms: settings.lockWaitWarnMs }, `slow wait: ${CAUSES[lock]}`),
      );
    },
    took(path, ms) {
      if (!(ms >= pathThreshold)) return;
      meter.count('scheduler_slow_path_total', { path });
      logPath(path, ms, (sum) => log.warn({ path, ...sum, threshold_ms: settings.pathWarnMs }, 'slow path'));
    },
  };
}

const round = (ms: number): number => Math.round(ms * 10) / 10;

/** What each wait means. */
const CAUSES: Readonly<Record<LockName, string>> = {
  session_mailbox: 'events of a session waited for an earlier one',
  request_single_flight: 'repeats of a request waited for the first',
  socket_order: 'messages of a socket waited for an earlier one',
  event_loop: 'one task, garbage collection or another process held the CPU',
};

/** Since the line before: how many were slow, and the slowest of them. */
interface Sum {
  readonly count: number;
  readonly worst_ms: number;
}

interface Sample {
  readonly loggedAt: number;
  readonly slowAt: number;
  readonly intervalMs: number;
  readonly count: number;
  readonly worstMs: number;
}

const NO_SAMPLE: Sample = {
  loggedAt: Number.NEGATIVE_INFINITY,
  slowAt: Number.NEGATIVE_INFINITY,
  intervalMs: 0,
  count: 0,
  worstMs: 0,
};

/** At most one line per interval and name; the names are few and fixed. */
function createSampling(clock: Pick<Clock, 'now'>) {
  const samples = new Map<LockName | PathName, Sample>();
  return (name: LockName | PathName, ms: number, write: (sum: Sum) => void): void => {
    const now = clock.now();
    const sample = samples.get(name) ?? NO_SAMPLE;
    const { loggedAt, slowAt, intervalMs } = sample;
    const count = sample.count + 1;
    const worstMs = Math.max(sample.worstMs, ms);
    if (now - loggedAt < intervalMs) {
      samples.set(name, { ...sample, slowAt: now, count, worstMs });
      return;
    }
    const isNews = now - slowAt > LONGEST_INTERVAL_MS;
    const nextMs = isNews ? FIRST_INTERVAL_MS : Math.min(2 * intervalMs, LONGEST_INTERVAL_MS);
    samples.set(name, { loggedAt: now, slowAt: now, intervalMs: nextMs, count: 0, worstMs: 0 });
    write({ count, worst_ms: round(worstMs) });
  };
}
