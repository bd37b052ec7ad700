/** Hot path, when it stutters: what nodes said of their jobs while nobody could be told, in order per job, until somebody can. */
import type { JobId } from '../../domain/ids.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { NodeReport } from './node-report.ts';

export interface PendingReports {
  add(report: NodeReport): void;
  /** Something of this job waits here. */
  holds(jobId: JobId): boolean;
  /** How one is handed over; false or a throw: not yet. */
  onTry(handOver: (report: NodeReport) => Promise<boolean>): void;
  size(): number;
  stop(): void;
}

interface Held {
  readonly report: NodeReport;
  readonly bytes: number;
  readonly until: number;
}

const TRY_AGAIN_MS = 250;
const MOST_AT_ONCE = 64;

export function createPendingReports(deps: {
  clock: Clock;
  log: Log;
  meter: Meter;
  /** A job has its outcome by then, whatever is said. */
  holdMs: number;
  maxHeld: number;
  maxBytes: number;
}): PendingReports {
  const { clock, log, meter } = deps;
  const byJob = new Map<JobId, Held[]>();
  /** Being handed over, which may take as long as a part of the store is away. */
  const underWay = new Set<JobId>();
  let count = 0;
  let bytes = 0;
  let cancel: Cancel | undefined;
  let isStopped = false;
  let handOver: (report: NodeReport) => Promise<boolean> = async () => false;

  function drop(jobId: JobId, reason: string): void {
    for (const each of byJob.get(jobId) ?? []) {
      count -= 1;
      bytes -= each.bytes;
      meter.count('scheduler_node_reports_dropped_total', { reason });
    }
    byJob.delete(jobId);
    log.warn({ job_id: jobId, reason }, 'what a node said of its job could not be brought to its driver');
  }

  /** In order; the first that cannot be handed over keeps the rest of its job back. */
  async function bring(jobId: JobId): Promise<void> {
    const waiting = byJob.get(jobId);
    if (waiting === undefined) return;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (clock.now() > first.until) return drop(jobId, 'too_old');
      if (!(await handOver(first.report).catch(() => false))) return;
      // Meanwhile it had to make room: what is held of the job now is not this.
      if (byJob.get(jobId) !== waiting) return;
      waiting.shift();
      count -= 1;
      bytes -= first.bytes;
    }
    byJob.delete(jobId);
  }

  async function bringOnce(jobId: JobId): Promise<void> {
    underWay.add(jobId);
    await bring(jobId);
    underWay.delete(jobId);
  }

  /** Whoever takes longer goes on by itself: the others must not wait for it. */
  function forAMoment(all: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancelWait = clock.after(TRY_AGAIN_MS, resolve);
      void all.then(() => {
        cancelWait();
        resolve();
      });
    });
  }

  async function tryAll(): Promise<void> {
    const jobIds = [...byJob.keys()].filter((jobId) => !underWay.has(jobId));
    for (let from = 0; from < jobIds.length; from += MOST_AT_ONCE) {
      await forAMoment(Promise.all(jobIds.slice(from, from + MOST_AT_ONCE).map(bringOnce)));
    }
    cancel = byJob.size === 0 || isStopped ? undefined : clock.after(TRY_AGAIN_MS, () => void tryAll());
  }

  return {
    add(report) {
      const { jobId } = report.attempt;
      const size = JSON.stringify(report).length;
      while (count > 0 && (count >= deps.maxHeld || bytes + size > deps.maxBytes)) {
        const [oldest] = byJob.keys();
        if (oldest === undefined) break;
        drop(oldest, 'too_many');
      }
      const held = { report, bytes: size, until: clock.now() + deps.holdMs };
      const waiting = byJob.get(jobId);
      // In place: it may be on its way already.
      if (waiting === undefined) byJob.set(jobId, [held]);
      else waiting.push(held);
      count += 1;
      bytes += size;
      cancel ??= clock.after(TRY_AGAIN_MS, () => void tryAll());
    },
    holds: (jobId) => byJob.has(jobId),
    onTry(how) {
      handOver = how;
    },
    size: () => count,
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}
