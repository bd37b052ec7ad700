/** Vocabulary: where the time of a job went, read from its timeline. Pure. */
import type { TimelineEntry } from './job.ts';

export interface Wait {
  readonly from: number;
  /** Absent: it waits still. */
  readonly to?: number | undefined;
}

/** Each time the job waited for a slot. A slot that is reserved at once makes no wait. */
export function waitsOf(timeline: readonly TimelineEntry[]): readonly Wait[] {
  const found: Wait[] = [];
  let since: number | undefined;
  for (const { state, at } of timeline) {
    if (state === 'CREATED' || state === 'RETRYING') since ??= at;
    else if (since !== undefined) {
      if (at > since) found.push({ from: since, to: at });
      since = undefined;
    }
  }
  return since === undefined ? found : [...found, { from: since }];
}

export interface AttemptStages {
  readonly attempt: number;
  readonly entries: readonly TimelineEntry[];
  readonly nodeId: string | undefined;
  readonly startAt: number;
  readonly reservedAt: number | undefined;
  readonly sentAt: number | undefined;
  readonly acknowledgedAt: number | undefined;
  /** Absent: it has not ended. */
  readonly end: TimelineEntry | undefined;
}

export function attemptsOf(timeline: readonly TimelineEntry[]): readonly AttemptStages[] {
  const numbers = new Set(timeline.map(({ attempt }) => attempt).filter((attempt) => attempt > 0));
  const settled = timeline.findLast(({ state }) => state === 'FINISHED' || state === 'FAILED');
  return [...numbers].map((attempt) => {
    const read = readAttempt(
      attempt,
      timeline.filter((entry) => entry.attempt === attempt),
    );
    // It was cancelled when another attempt, its hedge or the one that was hedged, ended the job.
    return read.end === undefined && settled !== undefined
      ? { ...read, end: { state: 'RELEASED', at: settled.at, attempt, reason: 'superseded' } }
      : read;
  });
}

/** The node of an abandoned attempt may still report; the attempt then continues. */
function readAttempt(attempt: number, entries: readonly TimelineEntry[]): AttemptStages {
  let [reservedAt, sentAt, acknowledgedAt]: (number | undefined)[] = [];
  let end: TimelineEntry | undefined;
  for (const entry of entries) {
    if (entry.state === 'RETRYING' || entry.state === 'FINISHED' || entry.state === 'FAILED') {
      end ??= entry;
      continue;
    }
    if (entry.state === 'RELEASED') continue;
    end = undefined;
    if (entry.state === 'RESERVED') reservedAt = entry.at;
    else if (entry.state === 'DISPATCHED') sentAt = entry.at;
    else if (entry.state === 'RUNNING') acknowledgedAt ??= entry.at;
  }
  // A legacy node reports only the result: its work is counted from the dispatch.
  const isUnacknowledged = end?.state === 'FINISHED' && acknowledgedAt === end.at;
  return {
    attempt,
    entries,
    nodeId: entries.findLast((entry) => entry.nodeId !== undefined)?.nodeId,
    startAt: entries[0]?.at ?? 0,
    reservedAt,
    sentAt,
    acknowledgedAt: isUnacknowledged ? sentAt : acknowledgedAt,
    end,
  };
}
