/**
 * Hot path: reports and cancels that other instances send to the driver of a job.
 *
 * Another instance may take the job over before or while the report is handled: then the report goes on to that one.
 */
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import type {
  CancelOutcome,
  EarlyText,
  HandOver,
  ReportedAttempt,
  ReportedFailure,
  ReportOutcome,
} from '../../domain/node-report.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FindDriver } from '../holder/find-driver.ts';
import { type NodeReport, readNodeReport } from '../holder/node-report.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';

/** The part of the engine that takes the reports of nodes. */
export interface NodeReportService {
  acknowledge(attempt: ReportedAttempt): Promise<ReportOutcome>;
  tell(attempt: ReportedAttempt, text: EarlyText): Promise<ReportOutcome>;
  finish(attempt: ReportedAttempt, result: JobResult): Promise<ReportOutcome>;
  fail(attempt: ReportedAttempt, failure: ReportedFailure): Promise<ReportOutcome>;
}

/** The part of the engine that takes the reports of holders. */
export interface HandOverReportService {
  dispatched(attempt: ReportedAttempt, handOver: HandOver): Promise<ReportOutcome>;
  undeliverable(attempt: ReportedAttempt, reason: string): Promise<ReportOutcome>;
}

export interface CancelService {
  cancel(jobId: JobId, reason: string, code?: ErrorCode): Promise<CancelOutcome>;
}

export type DriverService = NodeReportService &
  HandOverReportService &
  CancelService & { drives(jobId: JobId): boolean };

export interface CancelMessage {
  readonly jobId: JobId;
  readonly reason: string;
  readonly code?: ErrorCode | undefined;
}

export interface ReceiveReports {
  /** Gives a report to the engine of this instance. */
  apply(report: NodeReport): Promise<ReportOutcome>;
}

/** A handler that hangs must not fill the inbox with messages under way: after this time the message is read again. */
const HANDLE_MS = 10_000;

export function createReceiveReports(deps: {
  bus: Pick<MessageBus, 'on' | 'request'>;
  local: DriverService;
  findDriver: Pick<FindDriver, 'route'>;
  /** Brings a report to the driver that the record names. */
  passOn: (report: NodeReport) => Promise<void>;
  /** How long the sender of a request waits. */
  answerMs: number;
  clock: Clock;
}): ReceiveReports {
  const { bus, local, findDriver } = deps;

  async function apply(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.attempt;
    const didDrive = local.drives(jobId);
    const outcome = await give(report);
    const isTakenOver =
      didDrive && outcome.kind === 'ignored' && outcome.reason === 'fenced' && !local.drives(jobId);
    if (!isTakenOver) return outcome;
    await deps.passOn(report);
    return ACCEPTED;
  }

  function give(report: NodeReport): Promise<ReportOutcome> {
    switch (report.kind) {
      case 'dispatched':
        return local.dispatched(report.attempt, report.handOver);
      case 'undeliverable':
        return local.undeliverable(report.attempt, report.reason);
      case 'acknowledged':
        return local.acknowledge(report.attempt);
      case 'text':
        return local.tell(report.attempt, report.text);
      case 'finished':
        return local.finish(report.attempt, report.result);
      case 'failed':
        return local.fail(report.attempt, report.failure);
    }
  }

  const sendOn = (instanceId: string, topic: string, jobId: JobId, body: unknown): Promise<unknown> =>
    bus.request(instanceId, { topic, lane: jobId, body }, deps.answerMs);

  async function receiveReport(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.attempt;
    const outcome = await findDriver.route(
      jobId,
      'message',
      () => apply(report),
      (instanceId) => sendOn(instanceId, 'report', jobId, report) as Promise<ReportOutcome>,
    );
    // The job record stays here: the sender does not read it.
    return outcome.kind === 'accepted' ? ACCEPTED : outcome;
  }

  function receiveCancel(message: CancelMessage): Promise<CancelOutcome> {
    const { jobId, reason, code } = message;
    return findDriver.route(
      jobId,
      'message',
      () => local.cancel(jobId, reason, code),
      (instanceId) => sendOn(instanceId, 'cancel', jobId, message) as Promise<CancelOutcome>,
    );
  }

  bus.on('report', (body) =>
    withTimeout(deps.clock, HANDLE_MS, 'a report', () => receiveReport(readNodeReport(body))),
  );
  bus.on('cancel', async (body) => {
    const message = readMessage<CancelMessage>('cancel', body, CANCEL);
    return withTimeout(deps.clock, HANDLE_MS, 'a cancel', () => receiveCancel(message));
  });

  return { apply };
}

const CANCEL = { jobId: 'string', reason: 'string' } as const;

export const ACCEPTED: ReportOutcome = { kind: 'accepted' };
