/** Hot path: applies the store's answer to a move. Failure path: repeats failed moves and restores lost records. */
import { isSettled, type JobRecord, type TimelineEntry } from '../../domain/job.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Expected, JobChange, MoveResult } from '../../ports/job-store.ts';
import type { Engine } from '../engine.ts';
import { type InFlightJob, writtenRecord } from '../in-flight-job.ts';
import { dropJob } from '../takeover/drop-lost-job.ts';

type Answer = MoveResult | { readonly kind: 'failed'; readonly fault: unknown };

/** Whether the move was written and this instance still drives the job. */
export function applyMove(
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  moved: MoveResult,
): MaybePromise<boolean> {
  if (moved.kind !== 'moved' && isLost(engine, flight, moved)) {
    return repeatMove(engine, flight, expected, change, moved);
  }
  return apply(engine, flight, moved);
}

/** The same for an asynchronous store. */
export function applyMoveLater(
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  moving: Promise<MoveResult>,
): Promise<boolean> {
  flight.writes += 1;
  return moving.then(
    (moved) => {
      flight.writes -= 1;
      return applyMove(engine, flight, expected, change, moved);
    },
    (fault: unknown) => {
      flight.writes -= 1;
      return repeatMove(engine, flight, expected, change, { kind: 'failed', fault });
    },
  );
}

function apply(engine: Engine, flight: InFlightJob, moved: MoveResult): boolean {
  if (moved.kind === 'moved') {
    flight.job = moved.job;
    flight.written = undefined;
    if (isSettled(moved.job.state)) engine.recentWrites?.settled(moved.job);
    engine.events.publish(moved.job);
    // The job may have been dropped during the write.
    return flight.driving === 'ours';
  }
  if (moved.kind === 'stale') catchUp(flight, moved.job);
  else if (moved.kind === 'driven_elsewhere') dropForOtherDriver(engine, flight);
  else if (flight.driving === 'ours') flight.driving = 'record_gone';
  return false;
}

/** Another move of this driver was first: its record is the one that counts. */
export function catchUp(flight: InFlightJob, job: JobRecord): void {
  flight.job = job;
  flight.written = undefined;
}

export function dropForOtherDriver(engine: Engine, flight: InFlightJob): void {
  engine.meter.count('scheduler_fenced_total', DRIVER);
  engine.log.warn({ job_id: flight.job.jobId }, 'another instance drives this job; dropped it here');
  engine.recentWrites?.forget(flight.job.jobId);
  dropJob(engine, flight);
}

/**
 * A failover or an emptied store lost moves that this driver had written. A missing settled record is not lost: its retention
 * ended. Neither is a withdrawn one.
 */
function isLost(engine: Engine, flight: InFlightJob, moved: MoveResult): boolean {
  if (engine.store.restore === undefined || flight.driving !== 'ours') return false;
  const job = writtenRecord(flight);
  if (moved.kind === 'stale') return isBehind(moved.job, job);
  // A job that fails at its deadline is written a little after that.
  const latest = job.deadlineAt + engine.settings.reservationTtlMs;
  return moved.kind === 'unknown_job' && !isSettled(job.state) && engine.clock.now() < latest;
}

/** The stored record is an earlier state of the one that this driver knows. */
export function isBehind(stored: JobRecord, known: JobRecord): boolean {
  const [reached, expected] = [stored.fence?.attempt ?? 0, known.fence?.attempt ?? 0];
  if (reached !== expected) return reached < expected;
  if (stored.timeline.length !== known.timeline.length) return stored.timeline.length < known.timeline.length;
  // Long timelines lose their middle, so that all have the same length: the last entry of the earlier record is inside the later one.
  const last = stored.timeline.at(-1);
  return (
    last !== undefined && !hasEntry(known, last) && known.timeline.some((entry) => isSameEntry(entry, last))
  );
}

/**
 * Repeats the move until the store answers, because a failed call may have written or not. A record that the store has lost is restored
 * before that, at most MOST_RESTORES times: after that the stored record is accepted as it is.
 */
async function repeatMove(
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  first: Answer,
): Promise<boolean> {
  flight.writes += 1;
  try {
    return await repeat(engine, flight, expected, change, first);
  } finally {
    flight.writes -= 1;
  }
}

async function repeat(
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  first: Answer,
): Promise<boolean> {
  const { jobId } = flight.job;
  const { drops } = engine;
  // A settled job without its RELEASED write is not in flight any more, but may have been dropped with all others.
  const isOurs = (): boolean => flight.driving === 'ours' && engine.drops === drops;
  let restores = 0;
  for (let answer = first; ; ) {
    let isToRestore = false;
    if (answer.kind === 'failed') {
      const fields = { job_id: jobId, state: change.state, err: answer.fault };
      engine.log.error(fields, 'the store did not answer a job move');
      await new Promise<void>((resolve) => engine.wheel.set(REPEAT_MS, resolve));
    } else if (restores < MAX_RESTORES && isLost(engine, flight, answer)) isToRestore = true;
    else return apply(engine, flight, answer);
    if (!isOurs()) return false;
    try {
      if (isToRestore) {
        const restored = await engine.store.restore?.(writtenRecord(flight));
        engine.log.warn({ job_id: jobId, restored }, 'the store had lost moves of a job');
        restores += 1;
        if (restored === 'driven_elsewhere') return apply(engine, flight, { kind: restored });
        if (!isOurs()) return false;
      }
      const moved = await engine.store.move(jobId, expected, change);
      const isMade = moved.kind === 'stale' && hasEntry(moved.job, change.entry);
      answer = isMade ? { kind: 'moved', job: moved.job } : moved;
    } catch (fault) {
      answer = { kind: 'failed', fault };
    }
  }
}

const REPEAT_MS = 250;
const MAX_RESTORES = 3;
const DRIVER = { kind: 'driver' };

/** An earlier call has written the move: no other move makes the same entry. */
function hasEntry({ timeline }: JobRecord, entry: TimelineEntry): boolean {
  const last = timeline.at(-1);
  return last !== undefined && isSameEntry(last, entry);
}

const isSameEntry = (one: TimelineEntry, other: TimelineEntry): boolean =>
  one.state === other.state &&
  one.at === other.at &&
  one.attempt === other.attempt &&
  one.nodeId === other.nodeId;
