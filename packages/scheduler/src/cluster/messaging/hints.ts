/**
 * Background actor: hints between instances, which may be lost: loads of nodes, outcomes of attempts on another instance's node,
 * models that it lacks, partial text, who speaks in a room, paces of nodes, and figures for operators. Hints that follow closely share a message.
 */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import type { PartialText } from '../../domain/node-report.ts';
import { isWords, NO_USE, type ServiceUse } from '../../domain/service-use.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { HintBus } from '../../ports/hint-bus.ts';
import type { Log } from '../../ports/log.ts';

export const ATTEMPT_OUTCOMES = ['placed', 'succeeded', 'failed', 'unproven'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** As read from the node's report; the receiver validates it again. */
export interface MissingModelHint {
  readonly serviceId: string;
  readonly version: string;
  readonly reason: string;
}

export interface HintEvents {
  /** Another instance took or released a slot of a node. */
  loaded(nodeId: NodeId, load: Load): void;
  /** The outcome of an attempt on a node of this instance that another instance drives. */
  attemptOutcome(nodeId: NodeId, outcome: AttemptOutcome, use: ServiceUse): void;
  /** A node of this instance lacks a model. */
  missing(nodeId: NodeId, missing: MissingModelHint): void;
  /** For the driver of the job. */
  partial(partial: PartialText): void;
  /** For subscribers of the job on any instance. */
  followed(partial: PartialText): void;
  /** About a room that this instance may follow. */
  room(hint: unknown): void;
  /** Figures of another instance, as it sent them; the receiver checks them. */
  figures(instanceId: string, figures: unknown): void;
  /** Another instance has learnt how fast a node works; see runtime/select/node-speeds.ts. */
  pace(kindOfWork: string, nodeId: NodeId, pace: number): void;
}

export interface Hints {
  start(): Promise<void>;
  /** `isReport`: the node reported it. Then it is sent although it is unchanged: other instances may have missed it. */
  load(nodeId: NodeId, load: Load, isReport?: boolean): void;
  attemptOutcome(to: string, nodeId: NodeId, outcome: AttemptOutcome, use: ServiceUse): void;
  missing(to: string, nodeId: NodeId, missing: MissingModelHint): void;
  partial(to: string, partial: PartialText): void;
  /** To all instances: subscribers of the job may be anywhere. */
  followed(partial: PartialText): void;
  /** About a room that the instance follows. */
  room(to: string, hint: object): void;
  /** To all instances, at once. */
  figures(figures: object): void;
  /** To all instances, the newest pace of each node once a second. */
  pace(kindOfWork: string, nodeId: NodeId, pace: number): void;
  stop(): Promise<void>;
}

type Loads = readonly (readonly [NodeId, number, number])[];

type OutcomeHint = readonly [NodeId, AttemptOutcome, types: readonly string[], services?: readonly string[]];
type Missing = readonly [NodeId, serviceId: string, version: string, reason: string];

type Pace = readonly [kindOfWork: string, nodeId: NodeId, pace: number];

type Hint =
  | { readonly from: string; readonly paces: readonly Pace[] }
  | { readonly from: string; readonly loads: Loads }
  | { readonly from: string; readonly partials: readonly PartialText[] }
  | { readonly from: string; readonly followed: readonly PartialText[] }
  | { readonly from: string; readonly outcomes: readonly OutcomeHint[] }
  | { readonly from: string; readonly missing: readonly Missing[] }
  | { readonly from: string; readonly rooms: readonly unknown[] }
  | { readonly from: string; readonly figures: unknown };

interface UnsentLoad {
  readonly load: Load;
  /** The load that other instances know. */
  before: Load | undefined;
  readonly isReport: boolean;
}

/** With a view that is at most 100 ms old, nearly every reservation succeeds at the first try. */
const SEND_MS = 40;
/** With plenty of room an older load misleads no instance, and most jobs have ended by then. */
const ROOMY_MS = 5_000;
/** Successes are only counted. Failures are sent as soon as loads, because the next job would go to the same node. */
const OUTCOMES_MS = 5_000;
const PACES_MS = 1_000;
/** Paces of one second; further ones are not sent, and the other instances learn from their own jobs. */
const MOST_PACES = 2_000;
/** Entries of one message, so that it does not block the receiver's event loop. */
const MOST_AT_ONCE = 500;
const SUBSCRIBE_AGAIN_MS = 2_000;

export function createHints(deps: {
  hintBus: HintBus;
  clock: Clock;
  log: Log;
  instanceId: string;
  isFenced: () => boolean;
  /** As this instance knows it, and usually every other. The node's next report corrects the others. */
  loadOf: (nodeId: NodeId) => Load | undefined;
  events: HintEvents;
}): Hints {
  const { hintBus, clock, log, instanceId, events } = deps;
  const loads = new Map<NodeId, UnsentLoad>();
  const partials = new Map<string, Map<JobId, PartialText>>();
  const followed = new Map<JobId, PartialText>();
  const outcomes = new Map<string, OutcomeHint[]>();
  const missing = new Map<string, Missing[]>();
  const rooms = new Map<string, object[]>();
  const paces = new Map<string, Pace>();
  let cancelPaces: Cancel | undefined;
  let cancelSend: Cancel | undefined;
  let cancelRoomy: Cancel | undefined;
  let cancelOutcomes: Cancel | undefined;
  let areOutcomesUrgent = false;
  let cancelListen: Cancel | undefined;
  let stopListening: (() => Promise<void>) | undefined;
  let isStopped = false;

  function soon(): void {
    if (!isStopped) cancelSend ??= clock.after(SEND_MS, sendAll);
  }

  function sendLoads(): void {
    cancelRoomy?.();
    cancelRoomy = undefined;
    if (deps.isFenced()) forget();
    const all = [...loads]
      .filter(([, unsent]) => isChanged(unsent))
      .map(([nodeId, { load }]) => [nodeId, load.used, load.max] as const);
    loads.clear();
    for (const some of portions(all)) hintBus.sendToAll(JSON.stringify({ from: instanceId, loads: some }));
  }

  function sendAll(): void {
    cancelSend = undefined;
    const from = instanceId;
    sendLoads();
    for (const [to, byJob] of partials)
      for (const some of portions([...byJob.values()]))
        hintBus.send(to, JSON.stringify({ from, partials: some }));
    partials.clear();
    for (const some of portions([...followed.values()]))
      hintBus.sendToAll(JSON.stringify({ from, followed: some }));
    followed.clear();
    if (areOutcomesUrgent) sendOutcomes();
    for (const [to, list] of missing)
      for (const some of portions(list)) hintBus.send(to, JSON.stringify({ from, missing: some }));
    missing.clear();
    for (const [to, list] of rooms)
      for (const some of portions(list)) hintBus.send(to, JSON.stringify({ from, rooms: some }));
    rooms.clear();
  }

  function sendOutcomes(): void {
    cancelOutcomes?.();
    cancelOutcomes = undefined;
    areOutcomesUrgent = false;
    if (deps.isFenced()) forget();
    for (const [to, list] of outcomes)
      for (const some of portions(list))
        hintBus.send(to, JSON.stringify({ from: instanceId, outcomes: some }));
    outcomes.clear();
  }

  /** A fenced instance may have been declared dead: its hints would mislead others. */
  function forget(): void {
    loads.clear();
    partials.clear();
    followed.clear();
    outcomes.clear();
    missing.clear();
    rooms.clear();
    paces.clear();
  }

  function sendPaces(): void {
    cancelPaces = undefined;
    if (deps.isFenced()) forget();
    for (const some of portions([...paces.values()]))
      hintBus.sendToAll(JSON.stringify({ from: instanceId, paces: some }));
    paces.clear();
  }

  function receive(text: string): void {
    const hint = JSON.parse(text) as Hint;
    if (hint.from === instanceId) return;
    if ('loads' in hint)
      for (const [nodeId, used, max] of hint.loads)
        if (Number.isInteger(used) && Number.isInteger(max)) receiveLoad(nodeId, { used, max });
    if ('outcomes' in hint) for (const one of hint.outcomes) if (isOutcomeHint(one)) receiveOutcome(one);
    if ('missing' in hint)
      for (const one of hint.missing) if (Array.isArray(one)) receiveMissing(one as unknown as Missing);
    if ('partials' in hint) for (const partial of hint.partials) events.partial(partial);
    if ('paces' in hint) for (const one of hint.paces) if (isPace(one)) events.pace(...one);
    if ('rooms' in hint) for (const one of hint.rooms) events.room(one);
    if ('figures' in hint) events.figures(hint.from, hint.figures);
    if ('followed' in hint) for (const partial of hint.followed) events.followed(partial);
  }

  function receiveLoad(nodeId: NodeId, load: Load): void {
    const unsent = loads.get(nodeId);
    if (unsent !== undefined) unsent.before = load;
    events.loaded(nodeId, load);
  }

  function receiveOutcome([nodeId, outcome, types, services = NO_USE.services]: OutcomeHint): void {
    events.attemptOutcome(nodeId, outcome, { types, services });
  }

  function receiveMissing([nodeId, serviceId, version, reason]: Missing): void {
    events.missing(nodeId, { serviceId, version, reason });
  }

  /** Without a subscription this instance is slower, not incorrect. It retries. */
  async function subscribe(): Promise<void> {
    try {
      const end = await hintBus.subscribe(instanceId, receive);
      if (isStopped) await end();
      else stopListening = end;
    } catch (fault) {
      log.warn({ err: fault }, 'could not subscribe to hints of other instances; retrying');
      if (!isStopped) cancelListen = clock.after(SUBSCRIBE_AGAIN_MS, () => void subscribe());
    }
  }

  return {
    start: subscribe,
    load(nodeId, load, isReport = false) {
      const unsent = loads.get(nodeId);
      const before = unsent === undefined ? deps.loadOf(nodeId) : unsent.before;
      loads.set(nodeId, { load, before, isReport: isReport || unsent?.isReport === true });
      if (isTight(load) || before === undefined || isTight(before)) soon();
      else if (!isStopped) cancelRoomy ??= clock.after(ROOMY_MS, sendLoads);
    },
    attemptOutcome(to, nodeId, outcome, { types, services }) {
      const list = outcomes.get(to) ?? [];
      outcomes.set(to, list);
      list.push(services.length === 0 ? [nodeId, outcome, types] : [nodeId, outcome, types, services]);
      if (isStopped) return;
      if (list.length >= MOST_AT_ONCE) return sendOutcomes();
      cancelOutcomes ??= clock.after(OUTCOMES_MS, sendOutcomes);
      if (outcome !== 'failed') return;
      areOutcomesUrgent = true;
      soon();
    },
    missing(to, nodeId, { serviceId, version, reason }) {
      const list = missing.get(to) ?? [];
      missing.set(to, list);
      list.push([nodeId, serviceId, version, reason]);
      soon();
    },
    partial(to, partial) {
      const byJob = partials.get(to) ?? new Map<JobId, PartialText>();
      partials.set(to, byJob);
      byJob.set(partial.jobId, partial);
      soon();
    },
    followed(partial) {
      followed.set(partial.jobId, partial);
      soon();
    },
    room(to, hint) {
      const list = rooms.get(to) ?? [];
      rooms.set(to, list);
      list.push(hint);
      soon();
    },
    figures(figures) {
      if (!isStopped && !deps.isFenced()) hintBus.sendToAll(JSON.stringify({ from: instanceId, figures }));
    },
    pace(kindOfWork, nodeId, pace) {
      const key = `${nodeId} ${kindOfWork}`;
      if (isStopped || (paces.size >= MOST_PACES && !paces.has(key))) return;
      paces.set(key, [kindOfWork, nodeId, pace]);
      cancelPaces ??= clock.after(PACES_MS, sendPaces);
    },
    async stop() {
      isStopped = true;
      cancelPaces?.();
      cancelSend?.();
      cancelRoomy?.();
      cancelOutcomes?.();
      cancelListen?.();
      await stopListening?.().catch(() => undefined);
    },
  };
}

/** Here a wrong view leads to refused reservations, or to jobs sent elsewhere without need. */
const isTight = ({ used, max }: Load): boolean => 2 * used >= max;

const isChanged = ({ load, before, isReport }: UnsentLoad): boolean =>
  isReport || load.used !== before?.used || load.max !== before.max;

/** Unknown outcomes are ignored: read as another one, they could make a node trusted that is not. */
const isOutcomeHint = (given: unknown): given is OutcomeHint => {
  if (!Array.isArray(given)) return false;
  const [nodeId, outcome, types, services] = given as unknown[];
  const isKnown = typeof nodeId === 'string' && (ATTEMPT_OUTCOMES as readonly unknown[]).includes(outcome);
  return isKnown && isWords(types) && (services === undefined || isWords(services));
};

const isPace = (given: unknown): given is Pace => {
  if (!Array.isArray(given)) return false;
  const [kindOfWork, nodeId, pace] = given as unknown[];
  return (
    typeof kindOfWork === 'string' && typeof nodeId === 'string' && Number.isFinite(pace) && Number(pace) > 0
  );
};

function* portions<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += MOST_AT_ONCE) yield all.slice(from, from + MOST_AT_ONCE);
}
