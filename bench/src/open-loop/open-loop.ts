/**
 * Jobs are sent when they are due, whatever happened to earlier ones. Latency is counted from `dueAt`: a server that stalls, or that
 * delays the sender, then shows in every job that was due meanwhile, and not in one.
 */

/** The clock of the loop; a test has its own. */
export interface Pace {
  now(): number;
  /** At `dueAt` or later, and never without letting other work run. */
  until(dueAt: number): Promise<void>;
}

/** Timers come up to a millisecond late. */
const TIMER_MS = 1;

export const realPace: Pace = {
  now: () => performance.now(),
  async until(dueAt) {
    const aheadMs = dueAt - performance.now();
    if (aheadMs > TIMER_MS) await new Promise((resolve) => setTimeout(resolve, aheadMs - TIMER_MS));
    do await new Promise((resolve) => setImmediate(resolve));
    while (performance.now() < dueAt);
  },
};

/** Resolves when all jobs have ended. `times`: milliseconds from now, in order. */
export async function openLoop(
  times: Iterable<number>,
  come: (dueAt: number) => Promise<void>,
  pace: Pace = realPace,
): Promise<void> {
  const start = pace.now();
  const running = new Set<Promise<void>>();
  let fault: { readonly cause: unknown } | undefined;
  for (const time of times) {
    const dueAt = start + time;
    // All overdue jobs are sent now, and only then other work runs.
    if (pace.now() < dueAt) await pace.until(dueAt);
    if (fault !== undefined) break;
    const run: Promise<void> = come(dueAt)
      .catch((cause: unknown) => {
        fault ??= { cause };
      })
      .finally(() => running.delete(run));
    running.add(run);
  }
  await Promise.all(running);
  if (fault !== undefined) throw fault.cause;
}
