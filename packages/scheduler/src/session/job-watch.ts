/** Hot path: which utterances wait for which job. Two sessions may wait for one, when a client sends a request again elsewhere. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Log } from '../ports/log.ts';
import type { Session, Utterance } from './session.ts';
import type { SessionEvent } from './session-event.ts';
import type { JobDesk } from './session-service.ts';

interface Watcher {
  readonly session: Session;
  readonly utterance: Utterance;
}

export interface JobWatch {
  dispatch(session: Session, utterance: Utterance, request: DispatchRequest): void;
  /** Has its outcome. */
  forget(utterance: Utterance): void;
  /** Has none to wait for: the job is cancelled, unless somebody else waits for it. */
  cancel(utterance: Utterance, message: string, code: ErrorCode): void;
  moved(job: JobRecord): void;
  partial(jobId: JobId, text: string, isFinal: boolean, by?: NodeId): void;
  size(): number;
  /** Calls once, when nobody waits for anything. */
  onEmpty(listen: () => void): void;
}

export function createJobWatch(deps: {
  jobs: JobDesk;
  log: Log;
  post: (session: Session, event: SessionEvent) => void;
}): JobWatch {
  const { jobs, log, post } = deps;
  const watchers = new Map<JobId, readonly Watcher[]>();
  const idle: (() => void)[] = [];

  function add(jobId: JobId, watcher: Watcher): void {
    watchers.set(jobId, [...(watchers.get(jobId) ?? []), watcher]);
  }

  function remove(utterance: Utterance): void {
    const left = watchers.get(utterance.jobId)?.filter((watcher) => watcher.utterance !== utterance);
    if (left !== undefined && left.length > 0) {
      watchers.set(utterance.jobId, left);
      return;
    }
    watchers.delete(utterance.jobId);
    if (watchers.size === 0) for (const listen of idle.splice(0)) listen();
  }

  /** The job that does it has another name than it was asked for under. */
  function rename(session: Session, utterance: Utterance, jobId: JobId): void {
    if (jobId === utterance.jobId || utterance.isAbandoned) return;
    // In this order: in between, nobody may think that nothing is waited for.
    add(jobId, { session, utterance });
    remove(utterance);
    utterance.jobId = jobId;
  }

  function stop(jobId: JobId, message: string, code: ErrorCode): void {
    if (watchers.has(jobId)) return;
    jobs
      .cancel(jobId, message, code)
      .catch((fault: unknown) => log.warn({ job_id: jobId, err: fault }, 'a job could not be cancelled'));
  }

  /** Cut elsewhere than when it was first sent, it is other audio: a job of its own, bound to nothing. */
  async function ask(utterance: Utterance, request: DispatchRequest): Promise<DispatchOutcome> {
    const outcome = await jobs.dispatch(request);
    const isConflict = outcome.kind === 'refused' && outcome.code === 'IDEMPOTENCY_CONFLICT';
    if (!isConflict || utterance.firstSeq === undefined) return outcome;
    // Under a name of its own, too: the first one says which request it is of.
    const { requestId: _requestId, fingerprint: _fingerprint, jobId: _jobId, ...unbound } = request;
    return jobs.dispatch(unbound);
  }

  function heard(session: Session, utterance: Utterance, outcome: DispatchOutcome): void {
    const jobId = outcome.kind === 'dispatched' ? outcome.job.jobId : utterance.jobId;
    if (utterance.isAbandoned) {
      // It was given up before it was known under this name.
      if (outcome.kind === 'dispatched') stop(jobId, 'nobody waits for it any more', 'JOB_CANCELLED');
      return;
    }
    rename(session, utterance, jobId);
    post(session, { kind: 'dispatched', utterance, outcome });
  }

  return {
    dispatch(session, utterance, request) {
      add(utterance.jobId, { session, utterance });
      const admitted = ({ jobId }: JobRecord) => {
        rename(session, utterance, jobId);
        post(session, { kind: 'admitted', utterance });
      };
      ask(utterance, { ...request, admitted }).then(
        (outcome) => heard(session, utterance, outcome),
        (fault: unknown) => {
          log.error({ job_id: utterance.jobId, err: fault }, 'an utterance could not be dispatched');
          heard(session, utterance, FAULT);
        },
      );
    },
    forget: remove,
    cancel(utterance, message, code) {
      utterance.isAbandoned = true;
      remove(utterance);
      stop(utterance.jobId, message, code);
    },
    moved(job) {
      const waiting = watchers.get(job.jobId);
      if (waiting === undefined) return;
      for (const { session, utterance } of waiting) post(session, { kind: 'job_moved', utterance, job });
    },
    partial(jobId, text, isFinal, by) {
      for (const { session, utterance } of watchers.get(jobId) ?? []) {
        // A node whose attempt was given up may go on talking.
        if (by !== undefined && utterance.nodeId !== undefined && utterance.nodeId !== by) continue;
        post(session, { kind: 'partial', utterance, text, isFinal });
      }
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
