/** Hot path: the same request again is answered with the same job, here or wherever it is driven, and may bring its audio back. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
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
    /** Its request was refused here: it is gone, or will be as soon as the store can be asked. */
    isWithdrawn(jobId: JobId): boolean;
    dispatchAnew(request: DispatchRequest): MaybePromise<DispatchOutcome>;
  },
): Repeat {
  const { resumeJobs, refuse } = parts;
  /** Requests that found their job failed and are tried anew: once. */
  const anew = new WeakSet<DispatchRequest>();

  const same = (job: JobRecord): DispatchOutcome => ({ kind: 'dispatched', job, isRepeat: true });

  /** What it will come to nobody knows. */
  const unclear = (): DispatchOutcome =>
    refuse('SCHEDULER_DEPENDENCY_DOWN', 'the first request is still being settled; repeat it shortly');

  /** As soon as it has a node. */
  async function inFlight(request: DispatchRequest, flight: InFlightJob): Promise<DispatchOutcome> {
    if (lacksAudio(flight) && keepAudio(request, flight.job)) resumeJobs.audioReturned(flight.job.jobId);
    const requestedAt = engine.clock.now();
    const first = await placingOf(flight);
    engine.slow?.waited('request_single_flight', engine.clock.now() - requestedAt);
    return first.kind === 'refused' ? first : { ...first, isRepeat: true };
  }

  /** Under the name of the job that is bound, which is not the one it came with. False: it brought none, or there is no room. */
  function keepAudio({ audio }: DispatchRequest, { jobId }: JobRecord): boolean {
    return audio !== undefined && (isHeld(jobId) || engine.audio.put(jobId, audio) === 'held');
  }

  const isHeld = (jobId: JobId): boolean => engine.audio.get(jobId) !== undefined;

  /** No flight of ours will drop it. */
  function dropAtDeadline({ jobId, deadlineAt }: JobRecord): void {
    const latest = engine.clock.now() + engine.settings.jobDeadlineMs;
    engine.wheel.setAt(Math.min(deadlineAt, latest), (id) => engine.audio.drop(id), jobId);
  }

  async function alone(job: JobRecord): Promise<DispatchOutcome> {
    const known = job.fence === undefined ? await engine.store.get(job.jobId).catch(() => undefined) : job;
    return known?.fence === undefined ? unclear() : same(known);
  }

  async function amongOthers(
    request: DispatchRequest,
    job: JobRecord,
    drivers: JobDrivers,
  ): Promise<DispatchOutcome> {
    if (parts.isWithdrawn(job.jobId)) return unclear();
    let claim: DriverClaim;
    try {
      claim = await drivers.claim(job);
    } catch (fault) {
      engine.log.warn({ job_id: job.jobId, err: fault }, 'nobody can say who drives the job of a repeat');
      engine.meter.count('scheduler_dependency_down_total');
      return unclear();
    }
    if (parts.isWithdrawn(job.jobId)) return unclear();
    if (claim.kind === 'over') return whenOver(request, job.jobId);
    if (claim.kind === 'theirs') {
      handOver(request, job, drivers);
      return job.fence === undefined ? whenPlaced(request, job, drivers) : same(job);
    }
    resumeJobs.resume(claim.job);
    const flight = engine.inFlightJobs.get(job.jobId);
    return flight === undefined ? same(claim.job) : inFlight(request, flight);
  }

  /** Until it has a node it may yet be refused and taken back: nobody may be told before that it is accepted. */
  async function whenPlaced(
    request: DispatchRequest,
    job: JobRecord,
    drivers: JobDrivers,
  ): Promise<DispatchOutcome> {
    try {
      const placingResult = await drivers.placingResult(job);
      if (placingResult?.kind === 'refused') return placingResult;
      const now = await engine.store.get(job.jobId);
      // Refused and taken back before it could be asked about.
      if (now === undefined) return tryAnew(request);
      return placingResult?.kind === 'placed' || now.fence !== undefined ? same(now) : unclear();
    } catch (fault) {
      engine.log.info({ job_id: job.jobId, err: fault }, 'the driver of a job did not say what became of it');
      return unclear();
    }
  }

  function handOver(request: DispatchRequest, job: JobRecord, drivers: JobDrivers): void {
    const wasHeld = isHeld(job.jobId);
    if (!keepAudio(request, job)) return;
    if (!wasHeld) dropAtDeadline(job);
    drivers.offerAudio(job);
  }

  /** It was settled, or is gone, since the store told of it. A failed one has unbound the request. */
  async function whenOver(request: DispatchRequest, jobId: JobId): Promise<DispatchOutcome> {
    let job: JobRecord | undefined;
    try {
      job = await engine.store.get(jobId);
    } catch {
      engine.meter.count('scheduler_dependency_down_total');
      return unclear();
    }
    if (job?.result !== undefined) return same(job);
    return job !== undefined && !isSettled(job.state) ? unclear() : tryAnew(request);
  }

  /** The job it repeats is no more. */
  async function tryAnew(request: DispatchRequest): Promise<DispatchOutcome> {
    if (anew.has(request)) return unclear();
    const copy = { ...request };
    anew.add(copy);
    return parts.dispatchAnew(copy);
  }

  return async function repeat(request, bound) {
    if (bound.kind === 'conflict') {
      return refuse('IDEMPOTENCY_CONFLICT', 'this request_id is bound to a job with another body');
    }
    const { job } = bound;
    const flight = engine.inFlightJobs.get(job.jobId);
    if (flight !== undefined) return inFlight(request, flight);
    const { drivers } = engine;
    return drivers === undefined || isSettled(job.state) ? alone(job) : amongOthers(request, job, drivers);
  };
}

/** What the first request comes to; at once if it has. */
export function placingOf(flight: InFlightJob): Promise<DispatchOutcome> {
  if (!flight.isPlacing) return Promise.resolve({ kind: 'dispatched', job: flight.job, isRepeat: true });
  return new Promise((resolve) => {
    flight.repeats = [...(flight.repeats ?? []), resolve];
  });
}
