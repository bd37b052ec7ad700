/**
 * Hot path, seldom: the slots of jobs that others drive, kept by whoever holds the sockets of their nodes.
 *
 * The driver makes the lease of a job last that its node took. Should it die or stand still before, the lease would end while the
 * node works, and the slot would be given to another (I1). The holder knows what its nodes took: it keeps the leases of those jobs
 * that still run when their reservation is about to end, unless it knows by then that their driver has (lasting-slots.ts). Most are
 * over long before, and cost nothing.
 */

import type { JobId, NodeId } from '../../domain/ids.ts';
import { type LeaseId, leaseId } from '../../domain/lease.ts';
import { ANY_ATTEMPT, type ReportedAttempt } from '../../domain/node-report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** What was written to a socket of this instance for a driver elsewhere. */
export interface Handed {
  readonly jobId: JobId;
  readonly nodeId: NodeId;
  readonly attempt: number;
  /** Of the connection. */
  readonly generation: number;
  /** Its slot is reserved at least until then. */
  readonly slotUntil: number;
  /** The node has it by that alone: it never says so. */
  readonly isTaken: boolean;
  /** "instance/incarnation" of who drives it. */
  readonly driver: string;
  /** Of its slot, among those that its driver took; undefined: its driver does not say which of them last. */
  readonly slotNumber: number | undefined;
}

/** What is done for the slot when whoever drives the job has accepted that its node took it. Settled before that is asked. */
export interface HeardBeside {
  /** It is kept at once: whoever drives the job elsewhere may be told so. */
  readonly isKept: boolean;
  accepted(): void;
}

export interface SlotKeeping {
  /**
   * Before a job is handed over whose message lay for a while: its reservation begins anew. Answers until when the slot is held;
   * undefined: it is not any more, or the attempt was given up. A store that cannot be asked fails the call.
   */
  secure(job: Pick<Handed, 'jobId' | 'nodeId' | 'attempt'>): Promise<number | undefined>;
  handed(job: Handed): void;
  /** The node says that it has it, and another drives it: the holder before, perhaps, who died. Then nobody knows when its slot ends. */
  taken(answer: ReportedAttempt): void;
  /**
   * The node says so over HTTP, beside any socket, whose holder does not hear it. Who drives the job here makes its lease last, unless it
   * leaves that to whoever has the socket.
   */
  beside(answer: ReportedAttempt, isDrivenHere: boolean): HeardBeside;
  /** The node has said its last word on it. */
  over(answer: ReportedAttempt): void;
  size(): number;
}

interface Kept extends Pick<Handed, 'jobId' | 'nodeId' | 'attempt' | 'generation' | 'slotUntil'> {
  readonly by?: Pick<Handed, 'driver' | 'slotNumber'>;
  isTaken: boolean;
  /** When to keep it. */
  readonly keepAt: number;
  /** Or found to be there. */
  readonly handedAt: number;
}

/** Before a reservation ends: room for a call that times out, and another one. */
const AHEAD_MS = 1_000;
const LOOK_MS = 250;
/** As many as the nodes of one instance work on at a time; the oldest goes first, and is left to its driver. */
const MOST_KEPT = 50_000;

export function createSlotKeeping(deps: {
  /** True: the slot is held for as long, or longer. False: it is not held any more, or the attempt was given up. */
  keep: (nodeId: NodeId, lease: LeaseId, ttlMs: number, isTaken?: boolean) => Promise<boolean>;
  /** The driver has said that the slots which it took up to this number last by themselves. */
  lastsBy: (driver: string, slotNumber: number) => boolean;
  generationOf: (nodeId: NodeId) => number | undefined;
  /** Another instance has its socket. */
  isHeldElsewhere: (nodeId: NodeId) => boolean;
  /** As long as a job may run, and its grace. */
  runningTtlMs: number;
  /** As long as one that is not acknowledged. */
  reservationTtlMs: number;
  clock: Clock;
  log: Log;
}): SlotKeeping {
  const { clock, log } = deps;
  const jobs = new Map<string, Kept>();
  let isLooking = false;

  function lookLater(): void {
    if (isLooking) return;
    isLooking = true;
    clock.after(LOOK_MS, () => {
      isLooking = false;
      look();
      if (jobs.size > 0) lookLater();
    });
  }

  function look(): void {
    const now = clock.now();
    for (const [name, job] of jobs) {
      const isLate = job.slotUntil <= now;
      if (!isLate && !(job.isTaken && job.keepAt <= now)) continue;
      jobs.delete(name);
      if (!isLate && !lasts(job)) void keep(name, job);
    }
  }

  const lasts = ({ by }: Kept): boolean =>
    by?.slotNumber !== undefined && deps.lastsBy(by.driver, by.slotNumber);

  async function keep(name: string, job: Kept): Promise<void> {
    const { jobId, nodeId, attempt, generation, handedAt } = job;
    // What becomes of a job whose connection has ended its driver decides, and whoever adopts it.
    if (deps.generationOf(nodeId) !== generation) return;
    try {
      // It lasts no longer than one that its driver had made last: a slot is not missing for having been kept (I2).
      const ttlMs = deps.runningTtlMs - (clock.now() - handedAt);
      // Nor for longer than the node has the job: its reports tell.
      await deps.keep(nodeId, leaseId(jobId, attempt), ttlMs, true);
    } catch (fault) {
      log.warn({ job_id: jobId, node_id: nodeId, err: fault }, 'the slot of a running job could not be kept');
      // Should it have ended meanwhile, its driver gives the slot back, and nothing is left to be kept.
      if (!jobs.has(name) && clock.now() < job.slotUntil) note(name, job);
    }
  }

  function note(name: string, job: Kept): void {
    jobs.set(name, job);
    const [oldest] = jobs.keys();
    if (jobs.size > MOST_KEPT && oldest !== undefined) jobs.delete(oldest);
    lookLater();
  }

  function taken({ nodeId, jobId, attempt }: ReportedAttempt): void {
    const name = nameOf(nodeId, jobId);
    const job = jobs.get(name);
    const generation = deps.generationOf(nodeId);
    if (job !== undefined) {
      job.isTaken = true;
      return;
    }
    if (attempt === ANY_ATTEMPT || generation === undefined) return;
    const now = clock.now();
    // When it was reserved nobody here knows; it lasts no longer than that, unless its driver made it last.
    const slotUntil = now + deps.reservationTtlMs;
    void keep(name, {
      jobId,
      nodeId,
      attempt,
      generation,
      slotUntil,
      keepAt: now,
      isTaken: true,
      handedAt: now,
    });
  }

  function keepAtOnce({ nodeId, jobId, attempt }: ReportedAttempt): void {
    deps.keep(nodeId, leaseId(jobId, attempt), deps.runningTtlMs, true).catch((fault: unknown) => {
      // Whoever drives the job commits its lease later, and long before it ends.
      log.warn({ job_id: jobId, node_id: nodeId, err: fault }, 'the slot of a running job could not be kept');
    });
  }

  function beside(answer: ReportedAttempt, isDrivenHere: boolean): HeardBeside {
    const { nodeId, jobId, attempt } = answer;
    if (isDrivenHere && !deps.isHeldElsewhere(nodeId)) return NOT_KEPT;
    // Handed out here: kept when its time has come, should the connection last.
    if (jobs.has(nameOf(nodeId, jobId))) return { isKept: false, accepted: () => taken(answer) };
    return attempt === ANY_ATTEMPT ? NOT_KEPT : { isKept: true, accepted: () => keepAtOnce(answer) };
  }

  return {
    async secure({ jobId, nodeId, attempt }) {
      const slotUntil = clock.now() + deps.reservationTtlMs;
      return (await deps.keep(nodeId, leaseId(jobId, attempt), deps.reservationTtlMs))
        ? slotUntil
        : undefined;
    },
    handed({ driver, slotNumber, ...job }) {
      const keepAt = job.slotUntil - AHEAD_MS;
      const by = { driver, slotNumber };
      note(nameOf(job.nodeId, job.jobId), { ...job, by, keepAt, handedAt: clock.now() });
    },
    taken,
    beside,
    over: ({ nodeId, jobId }) => void jobs.delete(nameOf(nodeId, jobId)),
    size: () => jobs.size,
  };
}

const NOT_KEPT: HeardBeside = { isKept: false, accepted: () => undefined };

/** A job may be on two nodes of one instance, one of which was given up. */
const nameOf = (nodeId: NodeId, jobId: JobId): string => `${jobId}@${nodeId}`;
