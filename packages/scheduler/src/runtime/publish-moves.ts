/** Hot path: publishes the moves of jobs to subscribers, to the sessions of this instance, to the memory of recent attempts and, once a job has its outcome, to the tracer and to webhooks. */
import type { TenantId } from '../domain/ids.ts';
import { isOutcome, type JobRecord } from '../domain/job.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { Tracer } from '../ports/tracer.ts';

export function publishMoves(deps: {
  readonly events: JobEvents;
  readonly sessions: () => { jobMoved(job: JobRecord): void };
  readonly tracer: Tracer | undefined;
  readonly recentAttempts: { note(job: JobRecord): void };
  readonly webhooks: { isWantedBy(tenantId: TenantId): boolean; jobEnded(job: JobRecord): void };
}): JobEvents {
  const { events, sessions, tracer, recentAttempts, webhooks } = deps;
  function publish(job: JobRecord): void {
    events.publish(job);
    sessions().jobMoved(job);
    recentAttempts.note(job);
    const isWanted = !job.spec.isInterim && webhooks.isWantedBy(job.tenantId);
    if (isWanted && isOutcome(job)) webhooks.jobEnded(job);
  }
  function publishAndTrace(job: JobRecord): void {
    publish(job);
    if (isOutcome(job)) tracer?.jobSettled(job);
  }
  return { publish: tracer === undefined ? publish : publishAndTrace, subscribe: events.subscribe };
}
