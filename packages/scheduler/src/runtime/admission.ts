/** Hot path: a request becomes a job on a node — or an answer that says why not, with nothing left behind. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import { type ErrorCode, isUnsent } from '../domain/errors.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import { isSettled, type JobRecord } from '../domain/job.ts';
import { leaseId } from '../domain/lease.ts';
import type { RejectionCount } from '../domain/need.ts';
import type { Soon } from '../domain/soon.ts';
import type { AdmitResult } from '../ports/job-store.ts';
import { ABANDONED } from './abandon.ts';
import type { Adoption } from './adoption.ts';
import { type Asked, candidates, exclusions } from './candidates.ts';
import type { Deadlines } from './deadlines.ts';
import { createDiscards } from './discards.ts';
import { draftJob } from './draft-job.ts';
import { type Engine, giveBack } from './engine.ts';
import { createFlight, type Flight, NOBODY_SHUNNED } from './flight.ts';
import type { Placed, Placement } from './placement.ts';
import { type Refusal, refusal } from './refusal.ts';
import { createRepeats } from './repeats.ts';
import { type CompiledNeed, compileNeed } from './select/compile-need.ts';
import type { Selection } from './select/select.ts';
import { createTakingBack } from './take-back.ts';
import { backToWaiting, waitForSlot } from './waiting.ts';

export function createAdmission(
  engine: Engine,
  parts: { placement: Placement; deadlines: Deadlines; adoption: Adoption },
): (request: DispatchRequest) => Promise<DispatchOutcome> {
  const { placement, deadlines } = parts;
  const startedAt = engine.clock.now();
  const discards = createDiscards(engine, { maxPending: MOST_DISCARDS });
  const takeBack = createTakingBack(engine, discards, deadlines);

  function refuse(code: ErrorCode, message: string, reasons?: readonly RejectionCount[]): DispatchOutcome {
    engine.meter.count('scheduler_jobs_refused_total', { code });
    return reasons === undefined
      ? { kind: 'refused', code, message }
      : { kind: 'refused', code, message, reasons };
  }

  const whyNot = (asked: Asked, utteranceIndex: number): Refusal =>
    refusal(engine.fleet, asked, exclusions(engine, asked, utteranceIndex));

  const refuseWith = ({ code, message, reasons, mainReason }: Refusal): DispatchOutcome => {
    engine.meter.count('scheduler_no_available_node_total', { selector: 'types', reason: mainReason });
    return refuse(code, message, reasons);
  };

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
  async function waitOrRefuse(flight: Flight, waitMs: number): Promise<DispatchOutcome | undefined> {
    // Of what was sent nobody knows whether it arrived: whoever holds the node's socket may have written that it did.
    const isUnclear = waitMs > 0 || flight.attempts > 0;
    const canWait = isUnclear && (await backToWaiting(engine, flight, false)) && waitMs > 0;
    const waited = canWait
      ? await waitForSlot(engine, placement, flight, { isRetry: false, limitMs: waitMs })
      : 'limit';
    if (flight.driving !== 'ours') return undefined;
    // The limit may have struck while the job was already on its way: then it is dispatched all the same.
    if ((waited !== 'limit' && waited !== 'queue_full') || flight.job.fence !== undefined) return undefined;
    const why = whyNot(flight, flight.job.spec.utteranceIndex);
    return (await takeBack(flight)) ? refuseWith(why) : undefined;
  }

  function launched(flight: Flight): DispatchOutcome {
    const { job } = flight;
    if (flight.driving !== 'ours' && job.fence === undefined)
      return refuse(ABANDONED.code, ABANDONED.message);
    if (isSettled(job.state) && job.fence === undefined) {
      return refuse('JOB_CANCELLED', 'the job was cancelled before it had a node');
    }
    engine.meter.count('scheduler_jobs_admitted_total');
    engine.meter.observe('scheduler_dispatch_latency_seconds', (flight.sentAt - job.createdAt) / 1_000);
    engine.budget.earn();
    return { kind: 'dispatched', job, isRepeat: false };
  }

  /** Right after a start the nodes are still on their way back: that none can do it says nothing yet. */
  const isFleetKnown = (): boolean => engine.clock.now() - startedAt >= engine.settings.fleetWarmupMs;

  /** Nobody is free. An answer, unless the caller will wait and waiting can help. */
  async function withoutCandidate(
    request: DispatchRequest,
    probe: Asked,
  ): Promise<DispatchOutcome | undefined> {
    const bound = await boundJob(engine, request);
    if (bound === 'down') return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);
    if (bound !== undefined) {
      const isSame = bound.fingerprint === request.fingerprint;
      return repeat(request, { kind: isSame ? 'existing' : 'conflict', job: bound });
    }
    const why = whyNot(probe, request.spec.utteranceIndex);
    return request.waitMs <= 0 || (!why.isCapable && isFleetKnown()) ? refuseWith(why) : undefined;
  }

  async function notAdmitted(
    request: DispatchRequest,
    admitted: Exclude<AdmitResult, { kind: 'admitted' }> | Down,
    jobId: JobId,
    reserved: Reserved | undefined,
  ): Promise<DispatchOutcome> {
    engine.audio.drop(jobId);
    discards.resume(jobId);
    if (admitted.kind === 'down') {
      // It may have been written all the same. Whoever asked is not kept waiting for a store that does not answer.
      if (!admitted.isUnsent) discards.soon(jobId);
      void giveBackUnused(jobId, reserved, undefined);
      return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);
    }
    await giveBackUnused(jobId, reserved, 'job' in admitted ? admitted.job : undefined);
    if (admitted.kind === 'full') return refuse('RATE_LIMITED', 'too many jobs in flight');
    return repeat(request, admitted);
  }

  /** Without a word to a ledger that took nothing, and not what may be the job's own. */
  function giveBackUnused(
    jobId: JobId,
    reserved: Reserved | undefined,
    job: JobRecord | undefined,
  ): Soon<void> {
    if (reserved === undefined) return undefined;
    const { nodeId, reserving } = reserved;
    const give = (isTaken: boolean): Soon<void> =>
      isTaken && (job?.jobId !== jobId || !mayHold(job, nodeId))
        ? giveBack(engine, nodeId, leaseId(jobId, 1))
        : undefined;
    return reserving instanceof Promise ? reserving.then(give) : give(reserving);
  }

  async function withoutRoom(request: DispatchRequest): Promise<DispatchOutcome> {
    const bound = await boundJob(engine, request);
    if (bound === undefined || bound === 'down') {
      return refuse('RATE_LIMITED', 'no room for more audio on this instance');
    }
    const isSame = bound.fingerprint === request.fingerprint;
    return repeat(request, { kind: isSame ? 'existing' : 'conflict', job: bound });
  }

  function enter(request: DispatchRequest, probe: Asked, first: FirstChoice): Soon<DispatchOutcome> {
    const jobId = request.jobId ?? engine.ids.jobId(request.tenantId, request.requestId);
    if (request.audio !== undefined && engine.audio.put(jobId, request.audio) === 'full') {
      return withoutRoom(request);
    }
    const clearing = discards.hold(jobId);
    return clearing === undefined
      ? reserveAndAdmit(request, probe, first, jobId)
      : clearing.then(() => reserveAndAdmit(request, probe, first, jobId));
  }

  function reserveAndAdmit(
    request: DispatchRequest,
    { compiled }: Asked,
    { nodeId, selection }: FirstChoice,
    jobId: JobId,
  ): Soon<DispatchOutcome> {
    // In parallel: the slot, and the record with its intent. Either may land first; both are safe alone.
    const reserved =
      nodeId === undefined ? undefined : { nodeId, reserving: placement.reserve(nodeId, leaseId(jobId, 1)) };
    const admitting = admit(draftJob(engine, request, jobId, nodeId));
    return admitting instanceof Promise
      ? admitting.then((admitted) => embark(request, jobId, compiled, selection, reserved, admitted))
      : embark(request, jobId, compiled, selection, reserved, admitting);
  }

  function embark(
    request: DispatchRequest,
    jobId: JobId,
    compiled: CompiledNeed,
    selection: Selection,
    reserved: Reserved | undefined,
    admitted: AdmitResult | Down,
  ): Soon<DispatchOutcome> {
    // With other instances: a repeat that was quicker than this answer, or this fault, may have made it ours already.
    const adopted = engine.drivers && engine.flights.get(jobId);
    if (adopted !== undefined) {
      discards.forget(jobId);
      void giveBackUnused(jobId, reserved, adopted.job);
      return { kind: 'dispatched', job: adopted.job, isRepeat: true };
    }
    if (admitted.kind !== 'admitted') return notAdmitted(request, admitted, jobId, reserved);
    discards.forget(jobId);
    const flight = createFlight(admitted.job, request.need, compiled);
    engine.flights.add(flight);
    deadlines.startJob(flight);
    request.admitted?.(admitted.job);
    if (reserved?.reserving !== true) return placeElsewhere(flight, request.waitMs, selection, reserved);
    // The common case: the first candidate had a slot.
    const sending = placement.send(flight, reserved.nodeId, 1);
    const land = (placed: Placed): Soon<DispatchOutcome> =>
      placed === 'nobody'
        ? placeElsewhere(flight, request.waitMs, selection, REFUSED)
        : concluded(flight, launched(flight));
    return sending instanceof Promise ? sending.then(land) : land(sending);
  }

  /** Anything but a slot at the first candidate, at once. */
  async function placeElsewhere(
    flight: Flight,
    waitMs: number,
    selection: Selection,
    reserved: Reserved | undefined,
  ): Promise<DispatchOutcome> {
    let placed: Placed = 'nobody';
    if (reserved !== undefined) {
      if (await reserved.reserving) placed = await placement.send(flight, reserved.nodeId, 1);
      if (placed === 'nobody') placed = await placement.place(flight, selection);
    }
    const refused = placed === 'nobody' ? await waitOrRefuse(flight, waitMs) : undefined;
    return concluded(flight, refused ?? launched(flight));
  }

  function concluded(flight: Flight, outcome: DispatchOutcome): DispatchOutcome {
    flight.isPlacing = false;
    if (flight.repeats !== undefined) for (const tell of flight.repeats) tell(outcome);
    return outcome;
  }

  function begin(request: DispatchRequest): Soon<DispatchOutcome> {
    const { need } = request;
    const compiled = compileNeed(engine.fleet, need);
    const probe = { need, compiled, sentTo: NOBODY, retries: 0, shunned: NOBODY_SHUNNED };
    const selection = candidates(engine, probe, request.spec.utteranceIndex);
    const first = { nodeId: selection.next(), selection };
    if (first.nodeId !== undefined) return enter(request, probe, first);
    return withoutCandidate(request, probe).then((answer) => answer ?? enter(request, probe, first));
  }

  // Not an async function: its frame would be the largest thing a dispatch leaves to the collector.
  return function dispatch(request) {
    try {
      const outcome = begin(request);
      return outcome instanceof Promise ? outcome : Promise.resolve(outcome);
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

interface FirstChoice {
  readonly nodeId: NodeId | undefined;
  readonly selection: Selection;
}

interface Reserved {
  readonly nodeId: NodeId;
  readonly reserving: Soon<boolean>;
}

/** The first candidate had a slot, but could not be handed the job. */
const REFUSED: Reserved = { nodeId: '', reserving: false };
const NOBODY: never[] = [];
const MOST_DISCARDS = 10_000;
const STORE_SILENT = 'the job store does not answer';

/** A first attempt there is, was, or may be about to be the job's own, and so the slot: then it is left to it, or to its end. */
const mayHold = ({ fence, timeline }: JobRecord, nodeId: NodeId): boolean =>
  fence === undefined || timeline.some((entry) => entry.attempt === 1 && entry.nodeId === nodeId);

async function boundJob(engine: Engine, request: DispatchRequest): Promise<JobRecord | undefined | 'down'> {
  if (request.requestId === undefined) return undefined;
  try {
    return await engine.store.bound(request.tenantId, request.requestId);
  } catch {
    engine.meter.count('scheduler_dependency_down_total');
    return 'down';
  }
}
