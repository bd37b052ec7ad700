/** Hot path: a repeated request gets the same job, whichever instance drives it, and may bring its audio back. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { AdmitResult } from '../../ports/job-store.ts';
import type { Engine } from '../engine.ts';
import { type InFlightJob, lacksAudio } from '../in-flight-job.ts';
import type { DriverClaim, JobDrivers } from '../takeover/job-drivers.ts';
import type { ResumeJobs } from '../takeover/resume-job.ts';

export type Repeat = (
  request: DispatchRequest,
  bound: Extract<AdmitResult, { job: JobRecord }>,
) => Promise<DispatchOutcome>;

export function createRepeats(
  engine: Engine,
  parts: {
    resumeJobs: ResumeJobs;
    refuse(code: ErrorCode, message: string): DispatchOutcome;
    /** The request was refused here: its record is discarded, or will be when the store answers. */
    isWithdrawn(jobId: JobId): boolean;
    dispatch(request: DispatchRequest): MaybePromise<DispatchOutcome>;
  },
): Repeat {
  const { resumeJobs, refuse } = parts;
  /** Requests whose job had failed and that are dispatched again: once each. */
  const redispatched = new WeakSet<DispatchRequest>();

  const same = (job: JobRecord): DispatchOutcome => ({ kind: 'dispatched', job, isRepeat: true });

  /** The result of the first request is not known yet. */
  const notReady = (): DispatchOutcome =>
    refuse('SCHEDULER_DEPENDENCY_DOWN', 'the first request is still being settled; repeat it shortly');

  /** Waits until the job has a node. */
  async function inFlight(request: DispatchRequest, flight: InFlightJob): Promise<DispatchOutcome> {
    if (lacksAudio(flight) && keepAudio(request, flight.job)) resumeJobs.audioReturned(flight.job.jobId);
    const requestedAt = engine.clock.now();
    const first = await placingOf(flight);
    engine.slow?.waited('request_single_flight', engine.clock.now() - requestedAt);
    return first.kind === 'refused' ? first : { ...first, isRepeat: true };
  }

  /** Stored under the id of the bound job. False: the request has no audio, or there is no room. */
  function keepAudio({ audio }: DispatchRequest, { jobId, tenantId }: JobRecord): boolean {
    return audio !== undefined && (isHeld(jobId) || engine.audio.put(jobId, tenantId, audio) === 'held');
  }

  const isHeld = (jobId: JobId): boolean => engine.audio.get(jobId) !== undefined;

  /** No in-flight job here drops this audio. */
  function dropAtDeadline({ jobId, deadlineAt }: JobRecord): void {
    const latest = engine.clock.now() + engine.settings.jobDeadlineMs;
    engine.wheel.setAt(Math.min(deadlineAt, latest), (id) => engine.audio.drop(id), jobId);
  }

  async function fromRecord(job: JobRecord): Promise<DispatchOutcome> {
    const known = job.fence === undefined ? await engine.store.get(job.jobId).catch(() => undefined) : job;
    return known?.fence === undefined ? notReady() : same(known);
  }

  async function claimOrFollow(
    request: DispatchRequest,
    job: JobRecord,
    drivers: JobDrivers,
  ): Promise<DispatchOutcome> {
    if (parts.isWithdrawn(job.jobId)) return notReady();
    let claim: DriverClaim;
    try {
      claim = await drivers.claim(job);
    } catch (fault) {
      engine.log.warn({ job_id: job.jobId, err: fault }, 'cannot find the driver of a repeated request');
      engine.meter.count('scheduler_dependency_down_total');
      return notReady();
    }
    if (parts.isWithdrawn(job.jobId)) return notReady();
    if (claim.kind === 'over') return afterOutcome(request, job.jobId);
    if (claim.kind === 'theirs') {
      offerAudio(request, job, drivers);
      return job.fence === undefined ? afterPlacing(request, job, drivers) : same(job);
    }
    resumeJobs.resume(claim.job);
    const flight = engine.inFlightJobs.get(job.jobId);
    return flight === undefined ? same(claim.job) : inFlight(request, flight);
  }

  /** A job without a node may still be refused and withdrawn, so the repeat must not be accepted before. */
  async function afterPlacing(
    request: DispatchRequest,
    job: JobRecord,
    drivers: JobDrivers,
  ): Promise<DispatchOutcome> {
    try {
      const placingResult = await drivers.placingResult(job);
      if (placingResult?.kind === 'refused') return placingResult;
      const now = await engine.store.get(job.jobId);
      // The job was refused and withdrawn before the driver answered.
      if (now === undefined) return dispatchAgain(request);
      return placingResult?.kind === 'placed' || now.fence !== undefined ? same(now) : notReady();
    } catch (fault) {
      engine.log.info({ job_id: job.jobId, err: fault }, 'the driver of a job did not answer');
      return notReady();
    }
  }

  function offerAudio(request: DispatchRequest, job: JobRecord, drivers: JobDrivers): void {
    const wasHeld = isHeld(job.jobId);
    if (!keepAudio(request, job)) return;
    if (!wasHeld) dropAtDeadline(job);
    drivers.offerAudio(job);
  }

  /** The job was settled or removed after the request found it. A failed job has unbound the request. */
  async function afterOutcome(request: DispatchRequest, jobId: JobId): Promise<DispatchOutcome> {
    let job: JobRecord | undefined;
    try {
      job = await engine.store.get(jobId);
    } catch {
      engine.meter.count('scheduler_dependency_down_total');
      return notReady();
    }
    if (job?.result !== undefined) return same(job);
    return job !== undefined && !isSettled(job.state) ? notReady() : dispatchAgain(request);
  }

  /** The first job no longer exists. */
  async function dispatchAgain(request: DispatchRequest): Promise<DispatchOutcome> {
    if (redispatched.has(request)) return notReady();
    const copy = { ...request };
    redispatched.add(copy);
    return parts.dispatch(copy);
  }

  return async function repeat(request, bound) {
    if (bound.kind === 'conflict') {
      return refuse('IDEMPOTENCY_CONFLICT', 'this request_id is bound to a job with another body');
    }
    const { job } = bound;
    const flight = engine.inFlightJobs.get(job.jobId);
    if (flight !== undefined) return inFlight(request, flight);
    const { drivers } = engine;
    return drivers === undefined || isSettled(job.state)
      ? fromRecord(job)
      : claimOrFollow(request, job, drivers);
  };
}

/** The result of the first request, as soon as it is known. */
export function placingOf(flight: InFlightJob): Promise<DispatchOutcome> {
  const { repeats } = flight;
  if (repeats === undefined) return Promise.resolve({ kind: 'dispatched', job: flight.job, isRepeat: true });
  return new Promise((resolve) => {
    flight.repeats = [...repeats, resolve];
  });
}

/** What `admit` would return for it. Undefined: the request is not a repeat. */
export type Bound = Extract<AdmitResult, { job: JobRecord }> | 'down' | undefined;

export async function boundJob(engine: Engine, request: DispatchRequest): Promise<Bound> {
  if (request.requestId === undefined) return undefined;
  try {
    const job = await engine.store.bound(request.tenantId, request.requestId);
    if (job === undefined) return undefined;
    return { kind: job.fingerprint === request.fingerprint ? 'existing' : 'conflict', job };
  } catch {
    engine.meter.count('scheduler_dependency_down_total');
    return 'down';
  }
}
