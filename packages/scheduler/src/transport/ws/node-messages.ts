/** Hot path: passes a registered node's messages about its jobs to the engine. One per connection. */

import type { JobAck, JobResult, JobStarted, JobText, NodeAsrPartial, NodeError } from '@lingua/protocol';
import type { NodeReportService } from '../../cluster/driver/receive-reports.ts';
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId, NodeId } from '../../domain/ids.ts';
import { ANY_ATTEMPT, type ReportOutcome } from '../../domain/node-report.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import { mayNameAnotherAttempt, toFailure, toResult } from '../wire/job-report.ts';
import type { UnansweredAttempts } from './unanswered-attempts.ts';

export type JobMessage = JobAck | JobStarted | NodeAsrPartial | JobText | JobResult | NodeError;

export interface NodeMessagesDeps {
  readonly meter: Meter;
  readonly jobs: NodeReportService;
  readonly log: Log;
  /** Receives recognised text while the node is still working on the job. */
  readonly onPartial?: (jobId: JobId, text: string, isFinal: boolean, nodeId: NodeId) => void;
}

/** Running jobs remembered per connection. A job that was evicted is acknowledged once more at its next message. */
const MAX_REMEMBERED = 1_024;
const MAX_LOGGED_CHARS = 256;

export function createNodeMessages(
  deps: NodeMessagesDeps,
  unanswered: Pick<UnansweredAttempts, 'answered'>,
): (message: JobMessage, node: { nodeId: NodeId; isLegacy: boolean }) => Promise<void> {
  const { jobs, log } = deps;
  const running = createBoundedMap<JobId, true>({ max: MAX_REMEMBERED });

  function note(message: Exclude<JobMessage, NodeError>, outcome: ReportOutcome): void {
    if (outcome.kind === 'accepted') return;
    const { type, job_id, node_id, trace_id } = message;
    log.debug({ type, job_id, node_id, trace_id, reason: outcome.reason }, 'a node report changed nothing');
  }

  /** Returns whether the job runs on this node. */
  async function acknowledge(
    message: JobAck | JobStarted | NodeAsrPartial,
    attempt: number,
  ): Promise<boolean> {
    const outcome = await jobs.acknowledge({ nodeId: message.node_id, jobId: message.job_id, attempt });
    const isRunning = outcome.kind === 'accepted';
    if (isRunning) running.set(message.job_id, true);
    else note(message, outcome);
    return isRunning;
  }

  async function tell(message: JobText): Promise<void> {
    const { node_id: by, job_id: jobId, attempt_id: attempt, text_asr, text_translated } = message;
    const text = { textAsr: text_asr ?? '', textTranslated: text_translated ?? '' };
    note(message, await jobs.tell({ nodeId: by, jobId, attempt }, text));
  }

  async function reportResult(message: JobResult, isLegacy: boolean): Promise<void> {
    running.delete(message.job_id);
    unanswered.answered(message.job_id);
    const attempt = isLegacy && mayNameAnotherAttempt(message) ? ANY_ATTEMPT : message.attempt_id;
    const attemptRef = { nodeId: message.node_id, jobId: message.job_id, attempt };
    const outcome = message.success
      ? await jobs.finish(attemptRef, toResult(message))
      : await jobs.fail(attemptRef, toFailure(message));
    note(message, outcome);
  }

  return async (message, { nodeId, isLegacy }) => {
    switch (message.type) {
      case 'job_ack':
        await acknowledge(message, message.attempt_id);
        return;
      case 'job_started':
        // Most nodes have acknowledged the job before, and its driver may be another instance.
        if (!running.has(message.job_id)) await acknowledge(message, message.attempt_id);
        return;
      case 'asr_partial':
        // Only a running job produces text; the message names no attempt.
        if (running.has(message.job_id) || (await acknowledge(message, ANY_ATTEMPT))) {
          deps.onPartial?.(message.job_id, message.text, message.is_final, nodeId);
        }
        return;
      case 'job_text':
        return tell(message);
      case 'job_result':
        return reportResult(message, isLegacy);
      case 'node_error':
        deps.meter.count('scheduler_node_errors_total', { code: message.code });
        log.warn(
          { node_id: nodeId, code: message.code, reason: message.message.slice(0, MAX_LOGGED_CHARS) },
          'a node reported an error',
        );
    }
  };
}
