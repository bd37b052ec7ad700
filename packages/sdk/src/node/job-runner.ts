/** Runs the jobs of a node: within its slots, each only once, and each ends with one result. */
import type { JobAssign, JobResult, NodeToScheduler } from '@lingua/protocol';
import { type AudioRules, jobAudio } from './audio.ts';
import { JobError } from './job-error.ts';
import { asrPartial, failed, failureOf, jobAck, jobStarted, jobText, succeeded } from './job-messages.ts';
import type { JobHandler, NodeExtension, NodeLog } from './node-options.ts';
import type { RecentResults } from './recent-results.ts';

export interface JobCounts {
  /** Accepted jobs. */
  readonly jobs: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Jobs refused for lack of a free slot. */
  readonly refused: number;
  /** Repeated jobs that did not run again. */
  readonly duplicates: number;
  readonly running: number;
}

export interface JobRunner {
  assign(job: JobAssign): void;
  cancel(jobId: string, reason: string | undefined): void;
  /** Accepts no more jobs. */
  close(): void;
  /** Accepts jobs again. */
  reopen(): void;
  abortAll(error: JobError): void;
  runningJobIds(): string[];
  /** Resolves when no job is running. */
  idle(): Promise<void>;
  counts(): JobCounts;
}

interface Run {
  job: JobAssign;
  readonly controller: AbortController;
  readonly startedAt: number;
  /** Set once the job is cancelled. */
  cancelled?: JobError;
}

/** The longest delay of a Node.js timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createJobRunner(deps: {
  readonly maxConcurrentJobs: number;
  readonly supports: readonly NodeExtension[];
  readonly onJob: JobHandler;
  readonly audio: AudioRules;
  readonly nodeId: () => string;
  /** May be lost. */
  readonly report: (message: NodeToScheduler) => void;
  /** Must be delivered; returns its size in bytes. */
  readonly post: (result: JobResult) => number;
  readonly recentResults: RecentResults;
  readonly log: NodeLog;
}): JobRunner {
  const { maxConcurrentJobs: max, recentResults, log } = deps;
  const isAcknowledging = deps.supports.includes('job_ack');
  const tellsTexts = deps.supports.includes('stage_results');
  const runs = new Map<string, Run>();
  const counts = { jobs: 0, succeeded: 0, failed: 0, cancelled: 0, refused: 0, duplicates: 0 };
  let isOpen = true;
  let waiters: (() => void)[] = [];

  const acknowledge = (job: JobAssign): void => {
    if (isAcknowledging) deps.report(jobAck(job, deps.nodeId()));
  };

  function refuse(job: JobAssign): void {
    counts.refused += 1;
    const now = Date.now();
    const running = runs.size;
    const error = new JobError('NODE_OVERLOADED', isOpen ? 'no free slot' : 'the node is draining', {
      running,
      max: isOpen ? max : Math.min(running, max),
    });
    // Not remembered: the same job may arrive again when a slot is free.
    deps.post(failed(job, { nodeId: deps.nodeId(), startedAt: now, endedAt: now }, error));
  }

  /** True if the job was received before. */
  function repeats(job: JobAssign): boolean {
    const run = runs.get(job.job_id);
    const answer = run === undefined ? recentResults.recall(job.job_id, job.attempt_id) : undefined;
    if (run === undefined && answer === undefined) return false;
    counts.duplicates += 1;
    if (run?.cancelled !== undefined && job.attempt_id > run.job.attempt_id) {
      // The old attempt is still ending; its cancellation must not become the outcome of the new one.
      refuse(job);
      return true;
    }
    acknowledge(job);
    if (answer !== undefined) deps.post({ ...answer, node_id: deps.nodeId() });
    else if (run !== undefined && job.attempt_id > run.job.attempt_id) run.job = job;
    return true;
  }

  async function work(run: Run): Promise<void> {
    const { job, controller } = run;
    const { signal } = controller;
    const deadline = armDeadline(job, controller, log);
    let audio: Promise<Buffer> | undefined;
    let result: JobResult;
    const worked = () => ({ nodeId: deps.nodeId(), startedAt: run.startedAt, endedAt: Date.now() });
    try {
      if (isAcknowledging) deps.report(jobStarted(job, deps.nodeId()));
      const output = await deps.onJob(job, {
        signal,
        partial: (text, isFinal = false) => {
          if (runs.get(job.job_id) === run && !signal.aborted)
            deps.report(asrPartial(job, deps.nodeId(), text, isFinal));
        },
        texts: (texts) => {
          if (tellsTexts && runs.get(job.job_id) === run && !signal.aborted)
            deps.report(jobText(run.job, deps.nodeId(), texts));
        },
        audio: () => {
          audio ??= jobAudio(job, deps.audio, signal);
          // A handler that does not await the audio must not end the process when the fetch fails.
          audio.catch(() => {});
          return audio;
        },
      });
      result = succeeded(run.job, worked(), output);
    } catch (thrown) {
      const error = failureOf(thrown, signal);
      log.warn({ job_id: job.job_id, code: error.code, error: thrown }, 'a job failed');
      result = failed(run.job, worked(), error);
    }
    clearTimeout(deadline);
    end(run, result, worked);
  }

  function end(run: Run, result: JobResult, worked: () => Parameters<typeof failed>[1]): void {
    runs.delete(run.job.job_id);
    let answer = result;
    if (run.cancelled !== undefined) {
      counts.cancelled += 1;
      answer = failed(run.job, worked(), run.cancelled);
    } else if (result.success) counts.succeeded += 1;
    else counts.failed += 1;
    if (run.cancelled === undefined || deps.supports.includes('cancel_ack'))
      recentResults.remember(answer, deps.post(answer));
    if (runs.size > 0) return;
    const resolvers = waiters;
    waiters = [];
    for (const resolve of resolvers) resolve();
  }

  return {
    assign(job) {
      if (repeats(job)) return;
      if (!isOpen || runs.size >= max) return refuse(job);
      counts.jobs += 1;
      const run: Run = { job, controller: new AbortController(), startedAt: Date.now() };
      runs.set(job.job_id, run);
      acknowledge(job);
      void work(run);
    },
    cancel(jobId, reason) {
      const run = runs.get(jobId);
      if (run === undefined || run.cancelled !== undefined) return;
      run.cancelled = new JobError('JOB_CANCELLED', reason ?? 'the job was cancelled');
      run.controller.abort(run.cancelled);
    },
    close() {
      isOpen = false;
    },
    reopen() {
      isOpen = true;
    },
    abortAll(error) {
      for (const run of runs.values()) run.controller.abort(error);
    },
    runningJobIds: () => [...runs.keys()],
    idle: () => (runs.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    counts: () => ({ ...counts, running: runs.size }),
  };
}

function armDeadline(job: JobAssign, controller: AbortController, log: NodeLog): NodeJS.Timeout | undefined {
  if (job.deadline_ms === undefined) return undefined;
  const leftMs = job.deadline_ms - Date.now();
  if (leftMs <= 0) {
    // Schedulers do not send expired jobs, so the clocks differ; failing every job would be worse.
    log.warn(
      { job_id: job.job_id, late_ms: -leftMs },
      "a deadline had passed on arrival: check this machine's clock",
    );
    return undefined;
  }
  return setTimeout(
    () => controller.abort(new JobError('JOB_TIMEOUT', 'the deadline of the job has passed')),
    Math.min(leftMs, LONGEST_TIMER_MS),
  );
}
