/** Hot path: a request becomes a job on a node — or an answer that says why not, with nothing left behind. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import { isUnsent } from '../../domain/errors.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { Soon } from '../../domain/soon.ts';
import type { AdmitResult } from '../../ports/job-store.ts';
import { catchUp } from '../attempts/record-move.ts';
import type { Deadlines } from '../attempts/timeouts.ts';
import type { UnclearSends } from '../attempts/unconfirmed-sends.ts';
import type { Engine } from '../engine.ts';
import { createFlight, type Flight } from '../in-flight-job.ts';
import type { InflightCaps, Seat } from '../queue/inflight-caps.ts';
import { backToWaiting, waitForSlot } from '../queue/waiting.ts';
import { compileNeed } from '../select/compile-need.ts';
import { ABANDONED } from '../takeover/drop-lost-job.ts';
import type { Adoption } from '../takeover/resume-job.ts';
import { boundJob } from './bound-job.ts';
import { type Asked, candidates, exclusions } from './candidates.ts';
import { createRefusing } from './count-refusals.ts';
import type { Discards } from './discard-queue.ts';
import { createProbe, giveUpSeat, type Probe, whileSeated } from './dispatch-context.ts';
import { draftJob } from './draft-job.ts';
import type { Placed } from './placed.ts';
import type { Placement } from './placement.ts';
import { type Refusal, refusal } from './refusal.ts';
import { createRepeats } from './repeats.ts';
import { giveBackUnused, type Reserved } from './unused-slot.ts';
import { createTakingBack } from './withdraw-admission.ts';

export function createAdmission(
  engine: Engine,
  parts: {
    placement: Placement;
    deadlines: Deadlines;
    adoption: Adoption;
    discards: Discards;
    unclearSends: UnclearSends;
  },
): (request: DispatchRequest) => Soon<DispatchOutcome> {
  const { placement, deadlines, discards, unclearSends } = parts;
  const startedAt = engine.clock.now();
  const takeBack = createTakingBack(engine, discards, deadlines);
  const { refuse, refuseWith, atCap, atQueueCap } = createRefusing(engine);

  const whyNot = (asked: Asked, utteranceIndex: number): Refusal =>
    refusal(engine.fleet, asked, exclusions(engine, asked, utteranceIndex));

  const repeat = createRepeats(engine, {
    adoption: parts.adoption,
    refuse,
    isTakenBack: discards.isTakenBack,
    dispatchAnew: (request) => begin(request),
  });

  function admit(draft: JobRecord): Soon<AdmitResult | Down> {
    const admitting = engine.store.admit(draft);
    if (!(admitting instanceof Promise)) return admitting;
    return admitting.catch((fault: unknown) => {
      engine.log.error({ err: fault }, 'the store could not be asked; the request is refused');
      engine.meter.count('scheduler_dependency_down_total');
      return { kind: 'down', isUnsent: isUnsent(fault) };
    });
  }

  /** After the candidates of the first round: waits if that was asked for. */
  async function waitOrRefuse(
    flight: Flight,
    { waitMs, priority }: DispatchRequest,
    isTried: boolean,
  ): Promise<DispatchOutcome | undefined> {
    if (flight.attempts > 0) return acceptUnclear(flight);
    const canWait = waitMs > 0 && (await backToWaiting(engine, flight, false));
    const waited = canWait
      ? await waitForSlot(engine, placement, flight, { isRetry: false, limitMs: waitMs, priority })
      : 'limit';
    if (flight.driving !== 'ours') return undefined;
    // The limit may have struck while the job was already on its way: then it is dispatched all the same.
    if (waited === 'sent' || waited === 'overtaken' || flight.job.fence !== undefined) return undefined;
    if (flight.attempts > 0) return acceptUnclear(flight);
    const { tenantId } = flight.job;
    const isHeld = engine.caps?.hasRoom(tenantId) === false;
    const why = whyNot(flight, flight.job.spec.utteranceIndex);
    if (!(await takeBack(flight))) return undefined;
    if (waited === 'tenant_queue_full') return atQueueCap(tenantId);
    return isHeld ? atCap(tenantId) : refuseWith(why, flight, isTried);
  }

  /**
   * Of what was sent nobody knows whether it arrived, and a node may be at work on it: that is not taken back any more. Whoever has
   * the client by now may have told it of the job.
   */
  async function acceptUnclear(flight: Flight): Promise<undefined> {
    const stored = await engine.store.get(flight.job.jobId).catch(() => undefined);
    // Its node has spoken meanwhile, and the job is driven by that; or others drive it.
    if (flight.job.fence !== undefined || flight.driving !== 'ours') return;
    // Whoever holds the node's socket may have written that it left.
    if (stored?.fence !== undefined) catchUp(engine, flight, stored);
    else await unclearSends.awaitWord(flight);
  }

  function launched(flight: Flight, hasWaited: boolean): DispatchOutcome {
    const { job } = flight;
    if (flight.driving !== 'ours' && job.fence === undefined)
      return refuse(ABANDONED.code, ABANDONED.message);
    if (isSettled(job.state) && job.fence === undefined) {
      return refuse('JOB_CANCELLED', 'the job was cancelled before it had a node');
    }
    engine.meter.count('scheduler_jobs_admitted_total');
    const latencyMs = flight.sentAt - job.createdAt;
    engine.meter.observe('scheduler_dispatch_latency_seconds', latencyMs / 1_000);
    if (!hasWaited) engine.slow?.took('dispatch', latencyMs);
    engine.budget.earn();
    return { kind: 'dispatched', job, isRepeat: false };
  }

  /** Right after a start the nodes are still on their way back: that none can do it says nothing yet. */
  const isFleetKnown = (): boolean => engine.clock.now() - startedAt >= engine.settings.fleetWarmupMs;

  /** Nobody is free. An answer, unless the caller will wait and waiting can help. */
  async function withoutCandidate(probe: Probe): Promise<DispatchOutcome | undefined> {
    const { request } = probe;
    const bound = await boundJob(engine, request);
    if (bound === 'down') return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);
    if (bound !== undefined) {
      giveUpSeat(engine, probe);
      return repeat(request, bound);
    }
    const why = whyNot(probe, request.spec.utteranceIndex);
    const isFinal = request.waitMs <= 0 || (!why.isCapable && isFleetKnown());
    return isFinal ? refuseWith(why, probe, false) : undefined;
  }

  async function notAdmitted(
    probe: Probe,
    admitted: Exclude<AdmitResult, { kind: 'admitted' }> | Down,
  ): Promise<DispatchOutcome> {
    const { request, jobId } = probe;
    const reserved = reservedFor(probe);
    engine.audio.drop(jobId);
    discards.resume(jobId);
    if (admitted.kind === 'down') {
      // It may have been written all the same. Whoever asked is not kept waiting for a store that does not answer.
      if (!admitted.isUnsent) discards.soon(jobId);
      void giveBackUnused(engine, jobId, reserved, undefined);
      return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);
    }
    await giveBackUnused(engine, jobId, reserved, 'job' in admitted ? admitted.job : undefined);
    if (admitted.kind === 'full') return refuse('RATE_LIMITED', 'too many jobs in flight');
    return repeat(request, admitted);
  }

  /** Refused, unless it is a repeat: that brings nothing new. */
  async function withoutRoom(request: DispatchRequest, why: () => DispatchOutcome): Promise<DispatchOutcome> {
    const bound = await boundJob(engine, request);
    return bound === undefined || bound === 'down' ? why() : repeat(request, bound);
  }

  const noRoomForAudio = (): DispatchOutcome =>
    refuse('RATE_LIMITED', 'no room for more audio on this instance');

  function enter(probe: Probe): Soon<DispatchOutcome> {
    const { request } = probe;
    const jobId = request.jobId ?? engine.ids.jobId(request.tenantId, request.requestId);
    probe.jobId = jobId;
    if (request.audio !== undefined && engine.audio.put(jobId, request.audio) === 'full') {
      return withoutRoom(request, noRoomForAudio);
    }
    const clearing = discards.hold(jobId);
    return clearing === undefined ? reserveAndAdmit(probe) : enterLater(probe, clearing);
  }

  const enterLater = (probe: Probe, clearing: Promise<void>): Promise<DispatchOutcome> =>
    clearing.then(() => reserveAndAdmit(probe));

  function reserveAndAdmit(probe: Probe): Soon<DispatchOutcome> {
    const { nodeId, jobId, begunAt } = probe;
    // In parallel: the slot, and the record with its intent. Either may land first; both are safe alone.
    if (nodeId !== undefined) probe.reserving = placement.reserve(nodeId, leaseId(jobId, 1), begunAt, true);
    const admitting = admit(draftJob(engine, probe.request, jobId, nodeId, Math.floor(begunAt)));
    return admitting instanceof Promise ? embarkLater(probe, admitting) : embark(probe, admitting);
  }

  function embarkLater(probe: Probe, admitting: Promise<AdmitResult | Down>): Promise<DispatchOutcome> {
    engine.admitting.add(probe.jobId);
    return admitting.then((admitted) => {
      engine.admitting.delete(probe.jobId);
      return embark(probe, admitted);
    });
  }

  function embark(probe: Probe, admitted: AdmitResult | Down): Soon<DispatchOutcome> {
    const { request, jobId, nodeId } = probe;
    // With other instances: a repeat that was quicker than this answer, or this fault, may have made it ours already.
    const adopted = engine.drivers && engine.flights.get(jobId);
    if (adopted !== undefined) {
      discards.forget(jobId);
      void giveBackUnused(engine, jobId, reservedFor(probe), adopted.job);
      return { kind: 'dispatched', job: adopted.job, isRepeat: true };
    }
    if (admitted.kind !== 'admitted') {
      giveUpSeat(engine, probe);
      return notAdmitted(probe, admitted);
    }
    discards.forget(jobId);
    const flight = createFlight(admitted.job, request.need, probe.compiled);
    flight.seat = probe.seat;
    probe.seat = undefined;
    engine.flights.add(flight);
    deadlines.startJob(flight);
    request.admitted?.(admitted.job);
    if (nodeId === undefined || probe.reserving !== true)
      return placeElsewhere(flight, probe, reservedFor(probe));
    // The common case: the first candidate had a slot.
    const sending = placement.send(flight, nodeId, 1, probe.begunAt);
    return sending instanceof Promise ? landLater(flight, probe, sending) : land(flight, probe, sending);
  }

  const landLater = (flight: Flight, probe: Probe, sending: Promise<Placed>): Promise<DispatchOutcome> =>
    sending.then((placed) => land(flight, probe, placed));

  const land = (flight: Flight, probe: Probe, placed: Placed): Soon<DispatchOutcome> =>
    placed === 'nobody' ? placeElsewhere(flight, probe, REFUSED) : concluded(flight, launched(flight, false));

  /** Anything but a slot at the first candidate, at once. */
  async function placeElsewhere(
    flight: Flight,
    { request, selection }: Probe,
    reserved: Reserved | undefined,
  ): Promise<DispatchOutcome> {
    let placed: Placed = 'nobody';
    if (reserved !== undefined) {
      if (await reserved.reserving)
        placed = await placement.send(flight, reserved.nodeId, 1, flight.job.createdAt);
      if (placed === 'nobody') placed = await placement.place(flight, selection);
    }
    const hasWaited = placed === 'nobody';
    const refused = hasWaited ? await waitOrRefuse(flight, request, reserved !== undefined) : undefined;
    return concluded(flight, refused ?? launched(flight, hasWaited));
  }

  function concluded(flight: Flight, outcome: DispatchOutcome): DispatchOutcome {
    flight.isPlacing = false;
    if (flight.repeats !== undefined) for (const tell of flight.repeats) tell(outcome);
    return outcome;
  }

  function begin(request: DispatchRequest): Soon<DispatchOutcome> {
    const { caps } = engine;
    return caps === undefined ? start(request, undefined, false) : beginCapped(request, caps);
  }

  /** At its cap a tenant's job waits like for a slot, or is refused if it may not wait. */
  function beginCapped(request: DispatchRequest, caps: InflightCaps): Soon<DispatchOutcome> {
    const seat = caps.take(request.tenantId);
    if (seat === undefined && request.waitMs <= 0) return withoutRoom(request, () => atCap(request.tenantId));
    return start(request, seat, seat === undefined);
  }

  function start(request: DispatchRequest, seat: Seat | undefined, isHeld: boolean): Soon<DispatchOutcome> {
    const begunAt = engine.clock.precise();
    const probe = createProbe(request, compileNeed(engine.fleet, request.need), seat, isHeld, begunAt);
    return seat === undefined ? choose(probe) : whileSeated(engine, probe, choose);
  }

  function choose(probe: Probe): Soon<DispatchOutcome> {
    if (!probe.isHeld) probe.selection = candidates(engine, probe, probe.request.spec.utteranceIndex);
    probe.nodeId = probe.selection.next();
    return probe.nodeId === undefined ? chooseNobody(probe) : enter(probe);
  }

  const chooseNobody = (probe: Probe): Promise<DispatchOutcome> =>
    withoutCandidate(probe).then((answer) => answer ?? enter(probe));

  // Not an async function: its frame would be the largest thing a dispatch leaves to the collector.
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
  /** The store was certainly not asked. */
  readonly isUnsent: boolean;
}

const reservedFor = ({ nodeId, reserving }: Probe): Reserved | undefined =>
  nodeId === undefined || reserving === undefined ? undefined : { nodeId, reserving };

/** The first candidate had a slot, but could not be handed the job. */
const REFUSED: Reserved = { nodeId: '', reserving: false };
const STORE_SILENT = 'the job store does not answer';
