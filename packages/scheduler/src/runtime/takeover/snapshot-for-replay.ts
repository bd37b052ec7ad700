/** Failure path: what this instance knows and writes again after a failover of Redis. */
import type { JobId } from '../../domain/ids.ts';
import { type Attempt, isOut, isSettled } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { HeldLease, InFlightSnapshot, ReplaySnapshot } from '../../domain/replay-snapshot.ts';
import { leaseLeftMs } from '../attempts/lease-expiry.ts';
import type { Engine } from '../engine.ts';
import { FORGOTTEN_PATH, hasReleased, type InFlightJob, writtenRecord } from '../in-flight-job.ts';

/** With `jobIds`: only these jobs, and no recent writes. */
export function snapshotForReplay(engine: Engine, jobIds?: readonly JobId[]): ReplaySnapshot {
  const { inFlightJobs, recentWrites } = engine;
  if (jobIds === undefined) {
    const inFlight = Array.from(inFlightJobs.all(), (flight) => inFlightSnapshot(engine, flight));
    return { ...NO_RECENT_WRITES, ...recentWrites?.all(), inFlight };
  }
  const known = jobIds.map((jobId) => inFlightJobs.get(jobId)).filter((flight) => flight !== undefined);
  return { ...NO_RECENT_WRITES, inFlight: known.map((flight) => inFlightSnapshot(engine, flight)) };
}

function inFlightSnapshot(engine: Engine, flight: InFlightJob): InFlightSnapshot {
  const { fence, intent, state } = flight.job;
  const leases: HeldLease[] = [];
  if (!isSettled(state)) {
    if (fence !== undefined) leases.push(heldLease(engine, flight, fence, true));
    if (intent !== undefined) leases.push(heldLease(engine, flight, intent, false));
  }
  return { record: writtenRecord(flight), leases };
}

function heldLease(engine: Engine, flight: InFlightJob, of: Attempt, isFence: boolean): HeldLease {
  const { job } = flight;
  const wasSent = isFence || isSentIntent(flight, of.attempt);
  const awaitsHolder = flight.attempts === of.attempt && flight.path.awaitsHolder;
  return {
    ...of,
    lease: leaseId(job.jobId, of.attempt),
    leftMs: wasSent ? leaseLeftMs(flight, engine.settings, engine.clock.now()) : 0,
    isHandedOver: isFence && !awaitsHolder,
    isReleased: hasReleased(flight, of.attempt),
    isAbandoned: isFence && job.intent?.attempt !== of.attempt && !isOut(job),
  };
}

/** Sent by this instance. For the intent of another instance, the record does not say whether its slot was ever taken. */
const isSentIntent = ({ path, attempts, hedge }: InFlightJob, attempt: number): boolean =>
  (attempts === attempt && path !== FORGOTTEN_PATH) || (hedge?.attempt === attempt && hedge.sentAt > 0);

const NO_RECENT_WRITES = { settled: [], released: [], abandoned: [] };
