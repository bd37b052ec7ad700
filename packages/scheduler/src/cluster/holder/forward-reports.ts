/**
 * Hot path: reports that a node sends to this instance, brought to the driver of the job.
 *
 * A report on a socket must not block that socket: it is sent to the driver's inbox. While the driver is being replaced or Redis does not
 * answer, the report is kept here and sent later. A report over HTTP waits for the driver's answer.
 */
import type { JobId } from '../../domain/ids.ts';
import { fitResult } from '../../domain/job-spec.ts';
import type { ReportedAttempt, ReportOutcome } from '../../domain/node-report.ts';
import {
  ACCEPTED,
  type CancelMessage,
  type CancelService,
  type DriverService,
  type NodeReportService,
} from '../driver/receive-reports.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import type { DriverCache } from './driver-cache.ts';
import type { FindDriver, Origin } from './find-driver.ts';
import { isLastReport, type NodeReport } from './node-report.ts';
import type { PendingReports } from './pending-reports.ts';

export interface ForwardReports {
  /** For callers that wait for the driver's answer. */
  readonly byRequest: NodeReportService & CancelService;
  /** For nodes on sockets. `accepted` means that the report is on its way to the driver. */
  readonly bySocket: NodeReportService;
  /** Sends a report of this holder, or keeps it until it can be sent. */
  forward(report: NodeReport): Promise<ReportOutcome>;
  /** Brings a report to the driver that the record names, because this instance does not drive the job any more. */
  passOn(report: NodeReport): Promise<void>;
}

const MAX_UNDER_WAY = 1_000;
/** A result with more characters of speech than this is sent before the next message of its socket is read: it takes memory. */
const LARGE = 16_384;

export function createForwardReports(deps: {
  bus: Pick<MessageBus, 'send' | 'request'>;
  local: Pick<DriverService, 'drives' | 'cancel'>;
  /** Gives a report to the engine of this instance. */
  apply: (report: NodeReport) => Promise<ReportOutcome>;
  findDriver: FindDriver;
  driverCache: Pick<DriverCache, 'forget'>;
  generationOf: (nodeId: string) => number | undefined;
  pending: PendingReports;
  /** A larger result is sent without its speech. */
  maxResultBytes: number;
  answerMs: number;
}): ForwardReports {
  const { bus, local, findDriver, driverCache, pending } = deps;
  /** The newest report of each job that is on its way to another instance. */
  const underWay = new Map<JobId, Promise<void>>();

  /** False: the job has no living driver just now, or its inbox is full. */
  async function send(report: NodeReport, origin: Origin): Promise<boolean> {
    const { jobId } = report.attempt;
    const direction = await findDriver.find(jobId, origin);
    if (direction === 'none') return false;
    if (direction === 'here') {
      await deps.apply(report);
      return true;
    }
    const isSent = await bus.send(direction.instanceId, { topic: 'report', lane: jobId, body: report });
    if (isSent && isLastReport(report)) driverCache.forget(jobId);
    return isSent;
  }

  async function forward(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.attempt;
    // An earlier report on the same job goes first, also when this instance took the job over meanwhile.
    if (local.drives(jobId)) await underWay.get(jobId);
    const isHere = local.drives(jobId);
    if (isHere && !pending.holds(jobId)) return deps.apply(report);
    const fitting = isHere ? report : fitted(report);
    if (pending.holds(jobId)) pending.add(fitting);
    else if (mayOverlap(fitting)) void sendOrKeep(fitting, 'socket');
    else await sendOrKeep(fitting, 'socket');
    return ACCEPTED;
  }

  function sendOrKeep(report: NodeReport, origin: Origin): Promise<void> {
    const { jobId } = report.attempt;
    const sending = send(report, origin)
      .catch(() => false)
      .then((isSent) => {
        if (!isSent) pending.add(report);
        if (underWay.get(jobId) === sending) underWay.delete(jobId);
      });
    underWay.set(jobId, sending);
    return sending;
  }

  /**
   * The next message on the same socket need not wait for this report, so that both can share a command. If the reports change places,
   * an acknowledgement after its result changes nothing. The number of reports on their way is bounded.
   */
  const mayOverlap = (report: NodeReport): boolean =>
    underWay.size < MAX_UNDER_WAY && !(report.kind === 'finished' && report.result.ttsAudio.length > LARGE);

  const fitted = (report: NodeReport): NodeReport =>
    report.kind === 'finished'
      ? { ...report, result: fitResult(report.result, deps.maxResultBytes) }
      : report;

  const request = async <T>(instanceId: string, topic: string, jobId: JobId, body: unknown): Promise<T> =>
    (await bus.request(instanceId, { topic, lane: jobId, body }, deps.answerMs)) as T;

  async function reportByRequest(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.attempt;
    const outcome = await findDriver.route<ReportOutcome>(
      jobId,
      'request',
      () => deps.apply(report),
      (instanceId) => request(instanceId, 'report', jobId, fitted(report)),
    );
    if (isLastReport(report)) driverCache.forget(jobId);
    return outcome;
  }

  pending.onTry((report) => send(report, 'socket'));

  return {
    byRequest: {
      ...asService(reportByRequest, (attempt) => attempt),
      cancel(jobId, reason, code) {
        const message: CancelMessage = { jobId, reason, ...(code !== undefined && { code }) };
        return findDriver.route(
          jobId,
          'request',
          () => local.cancel(jobId, reason, code),
          (instanceId) => request(instanceId, 'cancel', jobId, message),
        );
      },
    },
    bySocket: asService(forward, (attempt) => ({
      ...attempt,
      generation: deps.generationOf(attempt.nodeId),
    })),
    forward,
    passOn: (report) => sendOrKeep(fitted(report), 'message'),
  };
}

const asService = (
  take: (report: NodeReport) => Promise<ReportOutcome>,
  acknowledged: (attempt: ReportedAttempt) => ReportedAttempt,
): NodeReportService => ({
  acknowledge: (attempt) => take({ kind: 'acknowledged', attempt: acknowledged(attempt) }),
  tell: (attempt, text) => take({ kind: 'text', attempt, text }),
  finish: (attempt, result) => take({ kind: 'finished', attempt, result }),
  fail: (attempt, failure) => take({ kind: 'failed', attempt, failure }),
});
