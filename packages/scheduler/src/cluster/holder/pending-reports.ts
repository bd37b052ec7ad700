/** Failure path: reports of nodes that could not be sent to the driver yet, in order per job. */
import type { JobId } from '../../domain/ids.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { NodeReport } from './node-report.ts';

export interface PendingReports {
  add(report: NodeReport): void;
  /** A report of this job waits here. */
  holds(jobId: JobId): boolean;
  /** How a report is sent. False or a throw: it is kept and retried. */
  onTry(send: (report: NodeReport) => Promise<boolean>): void;
  size(): number;
  stop(): void;
}

interface PendingReport {
  readonly report: NodeReport;
  readonly bytes: number;
  readonly until: number;
}

const RETRY_MS = 250;
const MAX_CONCURRENT = 64;

export function createPendingReports(deps: {
  clock: Clock;
  log: Log;
  meter: Meter;
  /** The job is settled by then, with or without the report. */
  holdMs: number;
  maxHeld: number;
  maxBytes: number;
}): PendingReports {
  const { clock, log, meter } = deps;
  const byJob = new Map<JobId, PendingReport[]>();
  /** Being sent, which may take as long as a part of the store is away. */
  const underWay = new Set<JobId>();
  let count = 0;
  let bytes = 0;
  let cancel: Cancel | undefined;
  let isStopped = false;
  let send: (report: NodeReport) => Promise<boolean> = async () => false;

  function drop(jobId: JobId, reason: string): void {
    for (const each of byJob.get(jobId) ?? []) {
      count -= 1;
      bytes -= each.bytes;
      meter.count('scheduler_node_reports_dropped_total', { reason });
    }
    byJob.delete(jobId);
    log.warn({ job_id: jobId, reason }, 'dropped a node report that could not be sent to its driver');
  }

  /** In order: later reports of the job wait for the first that cannot be sent. */
  async function sendAllOf(jobId: JobId): Promise<void> {
    const waiting = byJob.get(jobId);
    if (waiting === undefined) return;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (clock.now() > first.until) return drop(jobId, 'too_old');
      if (!(await send(first.report).catch(() => false))) return;
      // The reports were dropped at the limit during the send, and newer ones may be here.
      if (byJob.get(jobId) !== waiting) return;
      waiting.shift();
      count -= 1;
      bytes -= first.bytes;
    }
    byJob.delete(jobId);
  }

  async function sendOnce(jobId: JobId): Promise<void> {
    underWay.add(jobId);
    await sendAllOf(jobId);
    underWay.delete(jobId);
  }

  /** Slow sends go on, but the next portion does not wait for them. */
  function upToOneInterval(all: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancelWait = clock.after(RETRY_MS, resolve);
      void all.then(() => {
        cancelWait();
        resolve();
      });
    });
  }

  async function retryAll(): Promise<void> {
    const jobIds = [...byJob.keys()].filter((jobId) => !underWay.has(jobId));
    for (let from = 0; from < jobIds.length; from += MAX_CONCURRENT) {
      await upToOneInterval(Promise.all(jobIds.slice(from, from + MAX_CONCURRENT).map(sendOnce)));
    }
    cancel = byJob.size === 0 || isStopped ? undefined : clock.after(RETRY_MS, () => void retryAll());
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
      const pending = { report, bytes: size, until: clock.now() + deps.holdMs };
      const waiting = byJob.get(jobId);
      // The same array, because `sendAllOf` may be working on it.
      if (waiting === undefined) byJob.set(jobId, [pending]);
      else waiting.push(pending);
      count += 1;
      bytes += size;
      cancel ??= clock.after(RETRY_MS, () => void retryAll());
    },
    holds: (jobId) => byJob.has(jobId),
    onTry(how) {
      send = how;
    },
    size: () => count,
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}
