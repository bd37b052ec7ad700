/** Hot path: which utterances wait for which job. Two sessions may wait for one job, when a client repeats a request in another session. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId, NodeId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { Log } from '../../ports/log.ts';
import type { SessionEvent } from '../event.ts';
import type { RemoteJobFollower } from '../handover/remote-job-follower.ts';
import { noteChange } from '../handover/saved-state.ts';
import type { Session, Utterance } from '../session.ts';
import type { JobDispatcher } from '../session-service.ts';
import { isAdmitted, moveWatch } from '../utterance-state.ts';
import type { DispatchWithRetry } from './dispatch-with-retry.ts';

interface Watcher {
  readonly session: Session;
  readonly utterance: Utterance;
}

export interface JobWatch {
  dispatch(session: Session, utterance: Utterance, request: DispatchRequest): void;
  /** Watches a job that another instance drives. */
  follow(session: Session, utterance: Utterance): void;
  /** The utterance has its outcome. */
  forget(utterance: Utterance): void;
  /** The session no longer waits: the job is cancelled unless another utterance waits for it. */
  cancel(utterance: Utterance, message: string, code: ErrorCode): void;
  /** Another instance waits for it: nothing is cancelled. */
  handOver(utterance: Utterance): void;
  moved(job: JobRecord): void;
  partial(jobId: JobId, text: string, isFinal: boolean, by?: NodeId): boolean;
  size(): number;
  /** Calls `listen` once, when no job is watched. */
  onEmpty(listen: () => void): void;
}

export function createJobWatch(deps: {
  jobs: Pick<JobDispatcher, 'cancel'>;
  dispatcher: DispatchWithRetry;
  /** Several nodes together could do a job that no single node can. */
  isSplittable?: ((request: DispatchRequest) => boolean) | undefined;
  /** Utterances whose dispatch has no outcome yet. */
  dispatching: Set<Utterance>;
  /** Absent: there are no other instances. */
  elsewhere: RemoteJobFollower | undefined;
  log: Log;
  post: (session: Session, event: SessionEvent) => void;
}): JobWatch {
  const { jobs, dispatcher, dispatching, elsewhere, log, post } = deps;
  const watchers = new Map<JobId, readonly Watcher[]>();
  const idle: (() => void)[] = [];

  function add(jobId: JobId, watcher: Watcher): void {
    const others = (watchers.get(jobId) ?? []).filter(({ utterance }) => utterance !== watcher.utterance);
    watchers.set(jobId, [...others, watcher]);
  }

  function remove(utterance: Utterance): void {
    elsewhere?.stop(utterance);
    const left = watchers.get(utterance.jobId)?.filter((watcher) => watcher.utterance !== utterance);
    if (left !== undefined && left.length > 0) {
      watchers.set(utterance.jobId, left);
      return;
    }
    watchers.delete(utterance.jobId);
    if (watchers.size === 0) for (const listen of idle.splice(0)) listen();
  }

  const isOver = ({ watch }: Utterance): boolean => watch !== 'watched';

  /** The job of the utterance has another id than was requested. */
  function rename(session: Session, utterance: Utterance, jobId: JobId): void {
    if (jobId === utterance.jobId || utterance.isSettled || isOver(utterance)) return;
    // Add before remove, so that `onEmpty` does not fire in between.
    add(jobId, { session, utterance });
    remove(utterance);
    utterance.jobId = jobId;
    // The saved state has the earlier id.
    noteChange(session, 'now');
  }

  function stop(jobId: JobId, message: string, code: ErrorCode): void {
    if (watchers.has(jobId)) return;
    jobs
      .cancel(jobId, message, code)
      .catch((fault: unknown) => log.warn({ job_id: jobId, err: fault }, 'could not cancel a job'));
  }

  function follow(session: Session, utterance: Utterance): void {
    if (elsewhere === undefined || utterance.isSettled || isOver(utterance)) return;
    add(utterance.jobId, { session, utterance });
    elsewhere.follow(utterance, {
      onRecord: (job) => post(session, { kind: 'job_read', utterance, job }),
      onGone: () => post(session, { kind: 'job_gone', utterance }),
      onMissing: () => post(session, { kind: 'time_passed' }),
    });
  }

  function noteDispatchOutcome(
    session: Session,
    utterance: Utterance,
    request: DispatchRequest,
    outcome: DispatchOutcome,
    wasAdmittedHere: boolean,
  ): void {
    const jobId = outcome.kind === 'dispatched' ? outcome.job.jobId : utterance.jobId;
    if (utterance.watch === 'abandoned') {
      // It was abandoned before its job had this id.
      if (outcome.kind === 'dispatched') stop(jobId, 'no session waits for it any more', 'JOB_CANCELLED');
      return;
    }
    // It has its outcome from another job. A new job is cancelled; a repeated one belongs to an earlier request.
    if (utterance.isSettled) {
      if (outcome.kind === 'dispatched' && !outcome.isRepeat && jobId !== utterance.jobId)
        stop(jobId, 'no session waits for it any more', 'JOB_CANCELLED');
      return;
    }
    if (utterance.watch === 'handed_over') {
      // The new owner knows the earlier job id. Under a new id and without a request id it cannot find this job.
      const isKnown =
        outcome.kind === 'refused' || jobId === utterance.jobId || outcome.job.requestId !== undefined;
      if (!isKnown) stop(jobId, 'no session waits for it any more', 'JOB_CANCELLED');
      return;
    }
    // The audio that was sent again was refused: the job continues on another instance without it.
    if (outcome.kind === 'refused' && isAdmitted(utterance) && !wasAdmittedHere) return;
    const lacksNode = outcome.kind === 'refused' && outcome.code === 'NO_CAPABLE_NODE';
    if (lacksNode && !wasAdmittedHere && deps.isSplittable?.(request)) {
      post(session, { kind: 'split', utterance, request });
      remove(utterance);
      return;
    }
    rename(session, utterance, jobId);
    if (outcome.kind === 'dispatched') {
      if (outcome.isRepeat && !isSettled(outcome.job.state)) follow(session, utterance);
      else elsewhere?.stop(utterance);
    }
    post(session, { kind: 'dispatched', utterance, outcome });
  }

  return {
    dispatch(session, utterance, request) {
      add(utterance.jobId, { session, utterance });
      dispatching.add(utterance);
      let wasAdmittedHere = false;
      const admitted = ({ jobId }: JobRecord) => {
        wasAdmittedHere = true;
        rename(session, utterance, jobId);
        post(session, { kind: 'admitted', utterance });
      };
      dispatcher
        .dispatch(utterance, { ...request, admitted })
        .catch((fault: unknown) => {
          log.error({ job_id: utterance.jobId, err: fault }, 'could not dispatch an utterance');
          return FAULT;
        })
        .then((outcome) => {
          dispatching.delete(utterance);
          noteDispatchOutcome(session, utterance, request, outcome, wasAdmittedHere);
        });
    },
    follow,
    forget: remove,
    cancel(utterance, message, code) {
      moveWatch(utterance, 'abandoned');
      remove(utterance);
      stop(utterance.jobId, message, code);
    },
    handOver(utterance) {
      moveWatch(utterance, 'handed_over');
      remove(utterance);
    },
    moved(job) {
      const waiting = watchers.get(job.jobId);
      if (waiting === undefined) return;
      for (const { session, utterance } of waiting) post(session, { kind: 'job_moved', utterance, job });
    },
    partial(jobId, text, isFinal, by) {
      const waiting = watchers.get(jobId);
      for (const { session, utterance } of waiting ?? []) {
        // A node whose attempt was abandoned may still report partial text.
        if (by !== undefined && utterance.nodeId !== undefined && utterance.nodeId !== by) continue;
        post(session, { kind: 'partial', utterance, text, isFinal });
      }
      return waiting !== undefined;
    },
    size: () => watchers.size,
    onEmpty(listen) {
      if (watchers.size === 0) listen();
      else idle.push(listen);
    },
  };
}

const FAULT: DispatchOutcome = {
  kind: 'refused',
  code: 'INTERNAL_ERROR',
  message: 'the utterance could not be dispatched',
};
