/** Hot path: a request becomes a job on a node, or a refusal with a reason that leaves nothing behind. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import { isUnsent } from '../../domain/errors.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { AdmitResult } from '../../ports/job-store.ts';
import type { Timeouts } from '../attempts/timeouts.ts';
import type { UnconfirmedSends } from '../attempts/unconfirmed-sends.ts';
import type { Engine } from '../engine.ts';
import { createInFlightJob, type InFlightJob } from '../in-flight-job.ts';
import type { InflightCaps, QuotaUnit } from '../queue/inflight-caps.ts';
import { backToWaiting, waitForSlot } from '../queue/waiting.ts';
import { compileNeed } from '../select/compile-need.ts';
import { DRIVEN_ELSEWHERE } from '../takeover/drop-lost-job.ts';
import type { ResumeJobs } from '../takeover/resume-job.ts';
import { candidates, exclusions, type SelectionInput } from './candidates.ts';
import { createRefusals } from './count-refusals.ts';
import type { DiscardQueue } from './discard-queue.ts';
import {
  createDispatchContext,
  type DispatchContext,
  releaseQuotaUnit,
  withQuotaUnit,
} from './dispatch-context.ts';
import { draftJob } from './draft-job.ts';
import { degraded, foreseeLateness } from './foresee-wait.ts';
import type { Placement, PlacementResult } from './placement.ts';
import { type Refusal, refusal } from './refusal.ts';
import { boundJob, createRepeats } from './repeats.ts';
import { type Reserved, releaseUnused } from './unused-slot.ts';
import { createWithdrawAdmission } from './withdraw-admission.ts';

export function createAdmission(
  engine: Engine,
  parts: {
    placement: Placement;
    timeouts: Timeouts;
    resumeJobs: ResumeJobs;
    discardQueue: DiscardQueue;
    unconfirmedSends: UnconfirmedSends;
  },
): (request: DispatchRequest) => MaybePromise<DispatchOutcome> {
  const { placement, timeouts, discardQueue, unconfirmedSends } = parts;
  const startedAt = engine.clock.now();
  const withdraw = createWithdrawAdmission(engine, discardQueue, timeouts);
  const { refuse, refuseWith, tooLate, atCap, atQueueCap } = createRefusals(engine);

  const whyNot = (input: SelectionInput, utteranceIndex: number): Refusal =>
    refusal(engine.fleet, input.compiled, exclusions(engine, input, utteranceIndex));

  const repeat = createRepeats(engine, {
    resumeJobs: parts.resumeJobs,
    refuse,
    isWithdrawn: discardQueue.isWithdrawn,
    dispatch: (request) => begin(request),
  });

  function admit(draft: JobRecord): MaybePromise<AdmitResult | Down> {
    const admitting = engine.store.admit(draft);
    if (!(admitting instanceof Promise)) return admitting;
    return admitting.catch((fault: unknown) => {
      engine.log.error({ err: fault }, 'the job store failed; the request is refused');
      engine.meter.count('scheduler_dependency_down_total');
      return { kind: 'down', isUnsent: isUnsent(fault) };
    });
  }

  /** After the first candidates: waits for a slot if the request allows that. */
  async function waitOrRefuse(
    flight: InFlightJob,
    { waitMs, priority, isDependant }: DispatchRequest,
    isTried: boolean,
  ): Promise<DispatchOutcome | undefined> {
    if (flight.attempts > 0) return acceptUnconfirmed(flight);
    const canWait = waitMs > 0 && (await backToWaiting(engine, flight, false));
    const waited = canWait
      ? await waitForSlot(engine, placement, flight, {
          isRetry: false,
          limitMs: waitMs,
          priority,
          isDependant,
        })
      : 'limit';
    if (flight.driving !== 'ours') return undefined;
    // The wait may have ended during a send: then the job is dispatched all the same.
    if (waited === 'sent' || waited === 'overtaken' || flight.job.fence !== undefined) return undefined;
    if (flight.attempts > 0) return acceptUnconfirmed(flight);
    const { tenantId } = flight.job;
    const isHeld = engine.caps?.hasRoom(tenantId) === false;
    const why = whyNot(flight, flight.job.spec.utteranceIndex);
    if (!(await withdraw(flight))) return undefined;
    if (waited === 'tenant_queue_full') return atQueueCap(tenantId);
    return isHeld ? atCap(tenantId) : refuseWith(why, flight, isTried);
  }

  /**
   * A send has an unknown result, so a node may work on the job: such a job is never withdrawn. Another instance may already have
   * reported it to the client.
   */
  async function acceptUnconfirmed(flight: InFlightJob): Promise<undefined> {
    // A report of its node has moved the job meanwhile, or another instance drives it.
    if (flight.job.fence !== undefined || flight.driving !== 'ours') return;
    await unconfirmedSends.awaitReport(flight);
  }

  function dispatched(flight: InFlightJob, hasWaited: boolean): DispatchOutcome {
    const { job } = flight;
    if (flight.driving !== 'ours' && job.fence === undefined)
      return refuse(DRIVEN_ELSEWHERE.code, DRIVEN_ELSEWHERE.message);
    if (isSettled(job.state) && job.fence === undefined) {
      return refuse('JOB_CANCELLED', 'the job was cancelled before a node had it');
    }
    engine.meter.count('scheduler_jobs_admitted_total');
    const latencyMs = flight.sentAt - job.createdAt;
    engine.meter.observe('scheduler_dispatch_latency_seconds', latencyMs / 1_000);
    if (!hasWaited) engine.slow?.took('dispatch', latencyMs);
    engine.budget.earn();
    return { kind: 'dispatched', job, isRepeat: false };
  }

  /** Right after a start nodes are still reconnecting, so a missing capable node proves nothing yet. */
  const isFleetKnown = (): boolean => engine.clock.now() - startedAt >= engine.settings.fleetWarmupMs;

  /** The same request with less, if its tenant prefers that to a refusal. */
  function degrade(context: DispatchContext): MaybePromise<DispatchOutcome> | undefined {
    const less = degraded(engine, context.request);
    if (less === undefined) return undefined;
    engine.meter.count('scheduler_jobs_too_late_total', DEGRADED);
    const { quotaUnit, isHeld, begunAt } = context;
    context.quotaUnit = undefined;
    const again = createDispatchContext(
      less,
      compileNeed(engine.fleet, less.need),
      quotaUnit,
      isHeld,
      begunAt,
    );
    return quotaUnit === undefined ? choose(again) : withQuotaUnit(engine, again, choose);
  }

  /** No node is free. Refuses, unless the caller waits and waiting can help. */
  async function withoutCandidate(context: DispatchContext): Promise<DispatchOutcome | undefined> {
    const { request } = context;
    const bound = await boundJob(engine, request);
    if (bound === 'down') return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);
    if (bound !== undefined) {
      releaseQuotaUnit(engine, context);
      return repeat(request, bound);
    }
    const why = whyNot(context, request.spec.utteranceIndex);
    const isFinal = request.waitMs <= 0 || (!why.isWaitUseful && isFleetKnown());
    if (isFinal) return (why.isWaitUseful ? degrade(context) : undefined) ?? refuseWith(why, context, false);
    const late = context.isHeld ? undefined : foreseeLateness(engine, request, context.compiled);
    return late && (degrade(context) ?? tooLate(why, late, context));
  }

  async function notAdmitted(
    context: DispatchContext,
    admitted: Exclude<AdmitResult, { kind: 'admitted' }> | Down,
  ): Promise<DispatchOutcome> {
    const { request, jobId } = context;
    const reserved = reservedFor(context);
    engine.audio.drop(jobId);
    discardQueue.resume(jobId);
    if (admitted.kind === 'down') {
      // The record may have been written. The caller does not wait for a store that does not answer.
      if (!admitted.isUnsent) discardQueue.soon(jobId);
      void releaseUnused(engine, jobId, reserved, undefined);
      return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);
    }
    await releaseUnused(engine, jobId, reserved, 'job' in admitted ? admitted.job : undefined);
    if (admitted.kind === 'full') {
      return admitted.limit === 'tenant'
        ? atShare(request, 'jobs')
        : refuse('RATE_LIMITED', 'too many jobs in flight');
    }
    return repeat(request, admitted);
  }

  /** Refuses, unless the request repeats an accepted one. */
  async function withoutRoom(request: DispatchRequest, why: () => DispatchOutcome): Promise<DispatchOutcome> {
    const bound = await boundJob(engine, request);
    return bound === undefined || bound === 'down' ? why() : repeat(request, bound);
  }

  /** The tenant has its part of what all tenants share. */
  function atShare({ tenantId }: DispatchRequest, limit: 'jobs' | 'audio'): DispatchOutcome {
    engine.meter.count('scheduler_tenant_refused_total', { limit });
    const what = limit === 'jobs' ? 'jobs and request ids' : 'audio';
    return refuse(
      'RATE_LIMITED',
      `tenant ${tenantId} has its part of the ${what} of this instance (scheduler.tenant_limits.max_share_percent): wait until some of its jobs end, or have the limit raised`,
    );
  }

  const noRoomForAudio = (): DispatchOutcome =>
    refuse('RATE_LIMITED', 'no room for more audio on this instance');

  function enter(context: DispatchContext): MaybePromise<DispatchOutcome> {
    const { request } = context;
    const jobId = request.jobId ?? engine.ids.jobId(request.tenantId, request.requestId);
    context.jobId = jobId;
    if (request.audio !== undefined) {
      const stored = engine.audio.put(jobId, request.tenantId, request.audio);
      if (stored === 'full') return withoutRoom(request, noRoomForAudio);
      if (stored === 'tenant_full') return withoutRoom(request, () => atShare(request, 'audio'));
    }
    const clearing = discardQueue.hold(jobId);
    return clearing === undefined ? reserveAndAdmit(context) : enterLater(context, clearing);
  }

  const enterLater = (context: DispatchContext, clearing: Promise<void>): Promise<DispatchOutcome> =>
    clearing.then(() => reserveAndAdmit(context));

  function reserveAndAdmit(context: DispatchContext): MaybePromise<DispatchOutcome> {
    const { nodeId, jobId, begunAt } = context;
    // In parallel: the slot, and the record with its intent. Either write may be first; each is safe alone.
    if (nodeId !== undefined) context.reserving = placement.reserve(nodeId, leaseId(jobId, 1), begunAt, true);
    const admitting = admit(draftJob(engine, context.request, jobId, nodeId, Math.floor(begunAt)));
    return admitting instanceof Promise
      ? afterAdmissionLater(context, admitting)
      : afterAdmission(context, admitting);
  }

  function afterAdmissionLater(
    context: DispatchContext,
    admitting: Promise<AdmitResult | Down>,
  ): Promise<DispatchOutcome> {
    engine.admitting.add(context.jobId);
    return admitting.then((admitted) => {
      engine.admitting.delete(context.jobId);
      return afterAdmission(context, admitted);
    });
  }

  function afterAdmission(
    context: DispatchContext,
    admitted: AdmitResult | Down,
  ): MaybePromise<DispatchOutcome> {
    const { request, jobId, nodeId } = context;
    // With other instances: a repeat may have resumed the job here before this reply or fault arrived.
    const resumed = engine.drivers && engine.inFlightJobs.get(jobId);
    if (resumed !== undefined) {
      discardQueue.forget(jobId);
      void releaseUnused(engine, jobId, reservedFor(context), resumed.job);
      return { kind: 'dispatched', job: resumed.job, isRepeat: true };
    }
    if (admitted.kind !== 'admitted') {
      releaseQuotaUnit(engine, context);
      return notAdmitted(context, admitted);
    }
    discardQueue.forget(jobId);
    const flight = createInFlightJob(admitted.job, context.compiled);
    flight.quotaUnit = context.quotaUnit;
    context.quotaUnit = undefined;
    engine.inFlightJobs.add(flight);
    timeouts.startJob(flight);
    request.admitted?.(admitted.job);
    if (nodeId === undefined || context.reserving !== true)
      return placeElsewhere(flight, context, reservedFor(context));
    // With a synchronous ledger: the first candidate had a slot.
    const sending = placement.send(flight, nodeId, 1);
    return sending instanceof Promise
      ? afterSendLater(flight, context, sending)
      : afterSend(flight, context, sending);
  }

  const afterSendLater = (
    flight: InFlightJob,
    context: DispatchContext,
    sending: Promise<PlacementResult>,
  ): Promise<DispatchOutcome> => sending.then((placed) => afterSend(flight, context, placed));

  const afterSend = (
    flight: InFlightJob,
    context: DispatchContext,
    placed: PlacementResult,
  ): MaybePromise<DispatchOutcome> =>
    placed === 'no_node'
      ? placeElsewhere(flight, context, REFUSED)
      : endPlacing(flight, dispatched(flight, false));

  /** With an asynchronous ledger, or if the first candidate had no slot. */
  async function placeElsewhere(
    flight: InFlightJob,
    { request, selection }: DispatchContext,
    reserved: Reserved | undefined,
  ): Promise<DispatchOutcome> {
    let placed: PlacementResult = 'no_node';
    if (reserved !== undefined) {
      if (await reserved.reserving) placed = await placement.send(flight, reserved.nodeId, 1);
      if (placed === 'no_node') placed = await placement.place(flight, selection);
    }
    const hasWaited = placed === 'no_node';
    const refused = hasWaited ? await waitOrRefuse(flight, request, reserved !== undefined) : undefined;
    return endPlacing(flight, refused ?? dispatched(flight, hasWaited));
  }

  function endPlacing(flight: InFlightJob, outcome: DispatchOutcome): DispatchOutcome {
    const repeats = flight.repeats ?? [];
    flight.repeats = undefined;
    for (const answer of repeats) answer(outcome);
    return outcome;
  }

  function begin(request: DispatchRequest): MaybePromise<DispatchOutcome> {
    const { caps } = engine;
    return caps === undefined ? start(request, undefined, false) : beginCapped(request, caps);
  }

  /** At the cap of its tenant a job waits as for a slot, or is refused if it may not wait. */
  function beginCapped(request: DispatchRequest, caps: InflightCaps): MaybePromise<DispatchOutcome> {
    const quotaUnit = caps.take(request.tenantId);
    if (quotaUnit === undefined && request.waitMs <= 0)
      return withoutRoom(request, () => atCap(request.tenantId));
    return start(request, quotaUnit, quotaUnit === undefined);
  }

  function start(
    request: DispatchRequest,
    quotaUnit: QuotaUnit | undefined,
    isHeld: boolean,
  ): MaybePromise<DispatchOutcome> {
    const begunAt = engine.clock.precise();
    const context = createDispatchContext(
      request,
      compileNeed(engine.fleet, request.need),
      quotaUnit,
      isHeld,
      begunAt,
    );
    return quotaUnit === undefined ? choose(context) : withQuotaUnit(engine, context, choose);
  }

  function choose(context: DispatchContext): MaybePromise<DispatchOutcome> {
    if (!context.isHeld) context.selection = candidates(engine, context, context.request.spec.utteranceIndex);
    context.nodeId = context.selection.next();
    return context.nodeId === undefined ? startWithoutNode(context) : enter(context);
  }

  const startWithoutNode = (context: DispatchContext): Promise<DispatchOutcome> =>
    withoutCandidate(context).then((answer) => answer ?? enter(context));

  // Not an async function: its frame would be the largest allocation of a dispatch.
  return function dispatch(request) {
    try {
      return begin(request);
    } catch (fault) {
      return Promise.reject(fault);
    }
  };
}

interface Down {
  readonly kind: 'down';
  /** The call was certainly not sent. */
  readonly isUnsent: boolean;
}

const reservedFor = ({ nodeId, reserving }: DispatchContext): Reserved | undefined =>
  nodeId === undefined || reserving === undefined ? undefined : { nodeId, reserving };

/** The first candidate had a slot, but could not take the job. */
const REFUSED: Reserved = { nodeId: '', reserving: false };
const DEGRADED = { outcome: 'degraded' };
const STORE_SILENT = 'the job store does not answer';
