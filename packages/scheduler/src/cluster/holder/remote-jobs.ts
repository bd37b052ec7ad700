/**
 * Hot path: what is said of a job on an instance that does not drive it, brought to the one that does.
 *
 * A node's socket must not be held up: what it says is handed over to its driver's inbox and, while that driver is being replaced
 * or the store is away, held here and handed over later. Over HTTP the answer is waited for.
 */

import { type ErrorCode, SchedulerError } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import type {
  CancelOutcome,
  ReportedAttempt,
  ReportedFailure,
  ReportOutcome,
} from '../../domain/node-report.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';
import type { DriverCache } from './driver-cache.ts';
import { createFindDriver, type FindDriverDeps, type Way } from './find-driver.ts';
import { type NodeReport, readNodeReport } from './node-report.ts';
import type { PendingReports } from './pending-reports.ts';

/** The part of the engine that answers go to. */
export interface NodeReportService {
  acknowledge(answer: ReportedAttempt): Promise<ReportOutcome>;
  finish(answer: ReportedAttempt, result: JobResult): Promise<ReportOutcome>;
  fail(answer: ReportedAttempt, failure: ReportedFailure): Promise<ReportOutcome>;
}

export interface CancelService {
  cancel(jobId: JobId, reason: string, code?: ErrorCode): Promise<CancelOutcome>;
}

export interface RemoteJobs {
  /** For nodes that wait for what becomes of their answer. */
  readonly heard: NodeReportService & CancelService;
  /** For nodes on sockets. `accepted` means no more than that it will be brought to whoever drives the job. */
  readonly handedOver: NodeReportService;
}

interface CancelMessage {
  readonly jobId: JobId;
  readonly reason: string;
  readonly code?: ErrorCode;
}

const HANDLE_MS = 10_000;
const MOST_UNDER_WAY = 1_000;
/** Characters of speech that are worth waiting for, before more is read. */
const LARGE = 16_384;

export function createRemoteJobs(deps: {
  bus: Pick<MessageBus, 'tell' | 'ask' | 'on'>;
  local: NodeReportService & CancelService & { drives(jobId: JobId): boolean };
  driverOf: FindDriverDeps['driverOf'];
  driver: FindDriverDeps['driver'];
  living: FindDriverDeps['living'];
  /** The store may have lost the job. Resolves when whoever drives it had time to tell it again. */
  othersTold: (jobId: JobId) => Promise<void> | undefined;
  mayBeLost: FindDriverDeps['mayBeLost'];
  driverCache: DriverCache;
  held: PendingReports;
  /** A result as it may pass through the store. */
  fit: (result: JobResult) => JobResult;
  answerMs: number;
  clock: Clock;
}): RemoteJobs {
  const { bus, local, driverCache, held } = deps;
  const directionOf = createFindDriver({ ...deps, drives: local.drives });
  /** The latest that a node on a socket said of each job, while it is on its way to another instance. */
  const underWay = new Map<JobId, Promise<void>>();

  /** Another instance may take the job over while it is told something of it: then it is for that one to hear. */
  async function hear(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.answer;
    const wasHere = local.drives(jobId);
    const verdict = await tell(report);
    const isLost =
      wasHere && verdict.kind === 'ignored' && verdict.reason === 'fenced' && !local.drives(jobId);
    if (!isLost) return verdict;
    // Whoever has it now, the record knows.
    await bring(fitted(report), 'forwarded');
    return ACCEPTED;
  }

  function tell(report: NodeReport): Promise<ReportOutcome> {
    switch (report.say) {
      case 'acknowledged':
        return local.acknowledge(report.answer);
      case 'finished':
        return local.finish(report.answer, report.result);
      case 'failed':
        return local.fail(report.answer, report.failure);
    }
  }

  async function handOver(report: NodeReport, way: Way = 'said'): Promise<boolean> {
    const { jobId } = report.answer;
    const direction = await directionOf(jobId, way);
    if (direction === 'nobody') return false;
    if (direction === 'here') {
      await hear(report);
      return true;
    }
    const isSent = await bus.tell(direction.instanceId, { topic: 'answer', lane: jobId, body: report });
    if (isSent && report.say !== 'acknowledged') driverCache.forget(jobId);
    return isSent;
  }

  async function handOverOrHold(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.answer;
    // An earlier report on the same job goes first, also when this instance took the job over meanwhile.
    if (local.drives(jobId)) await underWay.get(jobId);
    const isHere = local.drives(jobId);
    if (isHere && !held.holds(jobId)) return hear(report);
    const fitting = isHere ? report : fitted(report);
    if (held.holds(jobId)) held.add(fitting);
    else if (mayGoOn(fitting)) void bring(fitting);
    else await bring(fitting);
    return ACCEPTED;
  }

  function bring(report: NodeReport, way?: Way): Promise<void> {
    const { jobId } = report.answer;
    const bringing = handOver(report, way)
      .catch(() => false)
      .then((isSent) => {
        if (!isSent) held.add(report);
        if (underWay.get(jobId) === bringing) underWay.delete(jobId);
      });
    underWay.set(jobId, bringing);
    return bringing;
  }

  /**
   * What follows on the same connection need not wait, so that it can go along. Should it overtake this one, an acknowledgement after
   * the result changes nothing. But what is on its way is bounded.
   */
  const mayGoOn = (report: NodeReport): boolean =>
    underWay.size < MOST_UNDER_WAY && !(report.say === 'finished' && report.result.ttsAudio.length > LARGE);

  const fitted = (report: NodeReport): NodeReport =>
    report.say === 'finished' ? { ...report, result: deps.fit(report.result) } : report;

  async function elsewhereOr<T>(
    jobId: JobId,
    here: () => Promise<T>,
    there: (instanceId: string) => Promise<T>,
    way: Way,
  ): Promise<T> {
    let direction = await directionOf(jobId, way);
    const told = direction === 'nobody' ? deps.othersTold(jobId) : undefined;
    if (told !== undefined) {
      await told;
      direction = await directionOf(jobId, way);
    }
    if (direction === 'here') return here();
    if (direction === 'nobody') {
      throw new SchedulerError(
        'SCHEDULER_DEPENDENCY_DOWN',
        `the instance that drove job ${jobId} is being replaced; try again shortly`,
      );
    }
    return there(direction.instanceId);
  }

  const asked = async <T>(instanceId: string, topic: string, lane: JobId, body: unknown): Promise<T> =>
    (await bus.ask(instanceId, { topic, lane, body }, deps.answerMs)) as T;

  const askOf = (instanceId: string, report: NodeReport): Promise<ReportOutcome> =>
    asked(instanceId, 'answer', report.answer.jobId, fitted(report));

  const forward = (report: NodeReport): Promise<ReportOutcome> =>
    elsewhereOr(
      report.answer.jobId,
      () => hear(report),
      (instanceId) => askOf(instanceId, report),
      'forwarded',
    );

  /** Over HTTP, where nodes that have a socket may speak, too. */
  async function askBeside(report: NodeReport): Promise<ReportOutcome> {
    const { jobId } = report.answer;
    const isLast = report.say !== 'acknowledged';
    const verdict = await elsewhereOr(
      jobId,
      () => hear(report),
      (instanceId) => askOf(instanceId, report),
      'asked',
    );
    if (isLast) driverCache.forget(jobId);
    return verdict;
  }

  const cancelDesk = (way: Way): CancelService => ({
    cancel(jobId, reason, code) {
      const message: CancelMessage = { jobId, reason, ...(code !== undefined && { code }) };
      return elsewhereOr(
        jobId,
        () => local.cancel(jobId, reason, code),
        (instanceId) => asked(instanceId, 'cancel', jobId, message),
        way,
      );
    },
  });

  held.onTry((report) => handOver(report));
  // Who drives it may have changed while the message was on its way: then it goes on from here.
  // A shard that stays away must not fill the inbox with messages under way: the message comes again.
  bus.on('answer', async (body) =>
    wordOf(await withTimeout(deps.clock, HANDLE_MS, 'an answer', () => forward(readNodeReport(body)))),
  );
  bus.on('cancel', async (body) => {
    const { jobId, reason, code } = readMessage<CancelMessage>('cancel', body, CANCEL);
    const cancel = () => cancelDesk('forwarded').cancel(jobId, reason, code);
    return withTimeout(deps.clock, HANDLE_MS, 'a cancel', cancel);
  });

  return {
    heard: { ...deskOf(askBeside), ...cancelDesk('asked') },
    handedOver: deskOf(handOverOrHold),
  };
}

const CANCEL = { jobId: 'string', reason: 'string' } as const;

const ACCEPTED: ReportOutcome = { kind: 'accepted' };

const deskOf = (take: (report: NodeReport) => Promise<ReportOutcome>): NodeReportService => ({
  acknowledge: (answer) => take({ say: 'acknowledged', answer }),
  finish: (answer, result) => take({ say: 'finished', answer, result }),
  fail: (answer, failure) => take({ say: 'failed', answer, failure }),
});

/** Without the record, which nobody at the other end reads. */
const wordOf = (verdict: ReportOutcome): ReportOutcome => (verdict.kind === 'accepted' ? ACCEPTED : verdict);
