/** Hot path: the last ended attempts on each node, of the jobs that this instance drives. For operators; bounded, lost at a restart. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId, NodeId } from '../../domain/ids.ts';
import { isOutcome, type JobRecord, type TimelineEntry } from '../../domain/job.ts';
import { jobOutcome } from '../../domain/job-query.ts';
import { NO_SLOT } from '../queue/waiting.ts';

export interface EndedAttempt {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly outcome: 'finished' | 'failed' | 'cancelled';
  /** Error code; absent if it finished. */
  readonly reason?: string | undefined;
  readonly endedAt: number;
  /** From the reservation of its slot to its end. */
  readonly durationMs: number;
}

export interface RecentAttempts {
  /** Called with every move of a job that this instance drives. */
  note(job: JobRecord): void;
  /** Newest first. */
  of(nodeId: NodeId): readonly EndedAttempt[];
  /** Some of the nodes on which most of the last attempts failed. */
  failing(): readonly FailingNode[];
}

export interface FailingNode {
  readonly nodeId: NodeId;
  readonly failed: number;
  /** Attempts that are remembered. */
  readonly of: number;
}

/** Attempts that are kept per node. */
export const MAX_RECENT_ATTEMPTS = 10;
/** With fewer failures, chance may be the cause. */
const MIN_FAILURES = 3;
/** I11: when many nodes fail, some of them show the cause. */
const MAX_FAILING = 20;

export function createRecentAttempts(deps: { maxNodes: number }): RecentAttempts {
  const failing = new Map<NodeId, FailingNode>();
  const byNode = createBoundedMap<NodeId, EndedAttempt[]>({
    max: deps.maxNodes,
    onEvicted: (nodeId) => failing.delete(nodeId),
  });

  function add(nodeId: NodeId, ended: EndedAttempt): void {
    const known = byNode.get(nodeId);
    if (known === undefined) {
      byNode.set(nodeId, [ended]);
      return;
    }
    const same = known.findIndex(({ jobId, attempt }) => jobId === ended.jobId && attempt === ended.attempt);
    // The failure of a job repeats that of its last attempt. A late result replaces it.
    if (same >= 0 && ended.outcome !== 'finished') return;
    if (same >= 0) known.splice(same, 1);
    known.unshift(ended);
    if (known.length > MAX_RECENT_ATTEMPTS) known.pop();
    if (ended.outcome === 'failed' || failing.has(nodeId)) judge(nodeId, known);
  }

  function judge(nodeId: NodeId, ended: readonly EndedAttempt[]): void {
    const failed = ended.filter(({ outcome }) => outcome === 'failed').length;
    if (failed < MIN_FAILURES || 2 * failed < ended.length) failing.delete(nodeId);
    else if (failing.has(nodeId) || failing.size < MAX_FAILING)
      failing.set(nodeId, { nodeId, failed, of: ended.length });
  }

  return {
    note(job) {
      const last = job.timeline.at(-1);
      if (last === undefined) return;
      if (job.state === 'RETRYING') {
        // The next attempt found no slot: none has ended.
        if (last.nodeId !== undefined && last.reason !== NO_SLOT)
          add(last.nodeId, endOf(job, last, last.attempt, 'failed', last.reason));
        return;
      }
      if (job.fence === undefined || !isOutcome(job)) return;
      const { nodeId, attempt } = job.fence;
      const outcome = jobOutcome(job);
      if (outcome === 'waiting' || outcome === 'running') return;
      add(nodeId, endOf(job, last, attempt, outcome, job.failure?.code));
    },
    of: (nodeId) => byNode.get(nodeId) ?? [],
    failing: () => [...failing.values()],
  };
}

function endOf(
  { jobId, timeline }: JobRecord,
  { at }: TimelineEntry,
  attempt: number,
  outcome: EndedAttempt['outcome'],
  reason: string | undefined,
): EndedAttempt {
  const begun = timeline.find((entry) => entry.attempt === attempt && entry.state !== 'CREATED');
  return { jobId, attempt, outcome, reason, endedAt: at, durationMs: at - (begun?.at ?? at) };
}
