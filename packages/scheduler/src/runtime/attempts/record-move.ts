/** Hot path: what the answer to a move means for the flight; and, seldom, what is done about a store that failed or has lost moves. */
import { isSettled, type JobRecord, type TimelineEntry } from '../../domain/job.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { Expected, JobChange, MoveResult } from '../../ports/job-store.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import { abandon } from '../takeover/drop-lost-job.ts';

type ReportedAttempt = MoveResult | { readonly kind: 'failed'; readonly fault: unknown };

/** Whether the move was made, and the job is still ours. */
export function takeMove(
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  moved: MoveResult,
): MaybePromise<boolean> {
  if (moved.kind !== 'moved' && isLost(engine, flight, moved)) {
    return insist(engine, flight, expected, change, moved);
  }
  return take(engine, flight, moved);
}

/** The same, of a store that does not answer at once. */
export const takeMoveLater = (
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  moving: Promise<MoveResult>,
): Promise<boolean> =>
  moving.then(
    (moved) => takeMove(engine, flight, expected, change, moved),
    (fault: unknown) => insist(engine, flight, expected, change, { kind: 'failed', fault }),
  );

function take(engine: Engine, flight: InFlightJob, moved: MoveResult): boolean {
  if (moved.kind === 'moved') {
    flight.job = moved.job;
    if (isSettled(moved.job.state)) engine.recentlySettled?.note(moved.job);
    engine.events.publish(moved.job);
    // It may have been abandoned while this was being written.
    return flight.driving === 'ours';
  }
  if (moved.kind === 'stale') catchUp(engine, flight, moved.job);
  else if (moved.kind === 'driven_elsewhere') loseToOther(engine, flight);
  else if (flight.driving === 'ours') flight.driving = 'record_gone';
  return false;
}

/** Somebody else moved it: the record is as it is now. */
export function catchUp(engine: Engine, flight: InFlightJob, job: JobRecord): void {
  const before = flight.job.fence;
  flight.job = job;
  const isNewlySent = job.state === 'DISPATCHED' && job.fence?.attempt !== before?.attempt;
  if (isNewlySent && flight.driving === 'ours') engine.foundSent(flight, before);
}

export function loseToOther(engine: Engine, flight: InFlightJob): void {
  engine.meter.count('scheduler_fenced_total', DRIVER);
  engine.log.warn(
    { job_id: flight.job.jobId },
    'another instance drives this job by now; it is dropped here',
  );
  engine.recentlySettled?.forget(flight.job.jobId);
  abandon(engine, flight);
}

/**
 * A failover or an emptied store lost what this driver was told it had written. Not so a record that was settled and is gone: it
 * had its time. Nor one that was taken back: then the flight is not ours to move any more.
 */
function isLost(engine: Engine, flight: InFlightJob, moved: MoveResult): boolean {
  if (engine.store.restore === undefined || flight.driving !== 'ours') return false;
  const { job } = flight;
  if (moved.kind === 'stale') return isBehind(moved.job, job);
  // Its failure for being late is written a little after its deadline.
  const latest = job.deadlineAt + engine.settings.reservationTtlMs;
  return moved.kind === 'unknown_job' && !isSettled(job.state) && engine.clock.now() < latest;
}

/** What is stored is an earlier state of what this driver knows. */
export function isBehind(stored: JobRecord, known: JobRecord): boolean {
  const [reached, expected] = [stored.fence?.attempt ?? 0, known.fence?.attempt ?? 0];
  if (reached !== expected) return reached < expected;
  if (stored.timeline.length !== known.timeline.length) return stored.timeline.length < known.timeline.length;
  // Long ones have lost their middle and are all of one length: the earlier one ends with something that the other has been through.
  const last = stored.timeline.at(-1);
  return (
    last !== undefined && !hasEntry(known, last) && known.timeline.some((entry) => isSameEntry(entry, last))
  );
}

/**
 * Asks until the store says: one that fails leaves it open whether it wrote. What it has lost is told to it again before that, a few
 * times: something is wrong with a record that stays behind, and it is taken as it is.
 */
async function insist(
  engine: Engine,
  flight: InFlightJob,
  expected: Expected,
  change: JobChange,
  first: ReportedAttempt,
): Promise<boolean> {
  const { jobId } = flight.job;
  const { abandonments } = engine;
  // Also a job that is settled and no longer in flight may have been abandoned, with only its release left to write.
  const isOurs = (): boolean => flight.driving === 'ours' && engine.abandonments === abandonments;
  let restores = 0;
  for (let answer = first; ; ) {
    let isToRestore = false;
    if (answer.kind === 'failed') {
      const fields = { job_id: jobId, state: change.state, err: answer.fault };
      engine.log.error(fields, 'the store did not answer a job move');
      await new Promise<void>((resolve) => engine.wheel.set(ASK_AGAIN_MS, resolve));
    } else if (restores < MOST_RESTORES && isLost(engine, flight, answer)) isToRestore = true;
    else return take(engine, flight, answer);
    if (!isOurs()) return false;
    try {
      if (isToRestore) {
        const restored = await engine.store.restore?.(flight.job);
        engine.log.warn({ job_id: jobId, restored }, 'the store had lost moves of a job');
        restores += 1;
        if (restored === 'driven_elsewhere') return take(engine, flight, { kind: restored });
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

const ASK_AGAIN_MS = 250;
const MOST_RESTORES = 3;
const DRIVER = { kind: 'driver' };

/** The first try wrote it after all: nobody else makes the same entry. */
function hasEntry({ timeline }: JobRecord, entry: TimelineEntry): boolean {
  const last = timeline.at(-1);
  return last !== undefined && isSameEntry(last, entry);
}

const isSameEntry = (one: TimelineEntry, other: TimelineEntry): boolean =>
  one.state === other.state &&
  one.at === other.at &&
  one.attempt === other.attempt &&
  one.nodeId === other.nodeId;
