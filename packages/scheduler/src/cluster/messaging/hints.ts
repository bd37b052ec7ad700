/**
 * Background actor: news between instances that are soon outdated, and may be lost: loads of nodes, how attempts on another's
 * node went and which models it lacks, text while it grows. What follows closely is told as one. Questions of the post office that
 * are soon outdated go the same way, at once.
 */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import { isWords, NO_USE, type ServiceUse } from '../../domain/service-use.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { HintBus } from '../../ports/hint-bus.ts';
import type { Log } from '../../ports/log.ts';

export interface PartialText {
  readonly jobId: JobId;
  readonly nodeId: NodeId;
  readonly text: string;
  readonly isFinal: boolean;
}

export const NODE_NEWS = ['placed', 'succeeded', 'failed', 'unproven'] as const;
export type NodeNews = (typeof NODE_NEWS)[number];

/** As the node's report was read; whoever hears of it looks at it again. */
export interface MissingNews {
  readonly serviceId: string;
  readonly version: string;
  readonly reason: string;
}

export interface HintEvents {
  /** A slot of a node was taken or came free elsewhere. */
  loaded(nodeId: NodeId, load: Load): void;
  /** An attempt on a node of this instance, driven elsewhere. */
  nodeNews(nodeId: NodeId, news: NodeNews, use: ServiceUse): void;
  /** A node of this instance lacks a model. */
  missing(nodeId: NodeId, missing: MissingNews): void;
  partial(partial: PartialText): void;
}

export interface Hints {
  start(): Promise<void>;
  /** `isReport`: the node said so itself. Then it is told even if it is no news: others may have missed it. */
  load(nodeId: NodeId, load: Load, isReport?: boolean): void;
  nodeNews(to: string, nodeId: NodeId, news: NodeNews, use: ServiceUse): void;
  missing(to: string, nodeId: NodeId, missing: MissingNews): void;
  partial(to: string, partial: PartialText): void;
  stop(): Promise<void>;
}

type Loads = readonly (readonly [NodeId, number, number])[];

/** Instances of earlier versions say and read the first two only. */
type News = readonly [NodeId, NodeNews, types?: readonly string[], services?: readonly string[]];
type Missing = readonly [NodeId, serviceId: string, version: string, reason: string];

type Hint =
  | { readonly from: string; readonly loads: Loads }
  | { readonly from: string; readonly partials: readonly PartialText[] }
  | { readonly from: string; readonly news: readonly News[] }
  | { readonly from: string; readonly missing: readonly Missing[] };

interface Untold {
  readonly load: Load;
  /** What others think. */
  before: Load | undefined;
  readonly isReport: boolean;
}

/** DESIGN §6: a view up to a tenth of a second old gets a slot at the first try. */
const TELL_MS = 40;
/** Where there is plenty of room nobody is misled by what is older, and most of it is over by then. */
const ROOMY_MS = 5_000;
/** What went well is only counted. What failed is told as soon as loads are: the next job would go there too. */
const NEWS_MS = 5_000;
/** Of one message, so that nobody's event loop is held up by it. */
const MOST_AT_ONCE = 500;
const LISTEN_AGAIN_MS = 2_000;

export function createHints(deps: {
  hintBus: HintBus;
  clock: Clock;
  log: Log;
  instanceId: string;
  isFenced: () => boolean;
  /** As this instance knows it up to now, and usually everybody. Where others are wrong the node's next report tells them. */
  loadOf: (nodeId: NodeId) => Load | undefined;
  events: HintEvents;
}): Hints {
  const { hintBus, clock, log, instanceId, events } = deps;
  const loads = new Map<NodeId, Untold>();
  const partials = new Map<string, Map<JobId, PartialText>>();
  const news = new Map<string, News[]>();
  const missing = new Map<string, Missing[]>();
  let telling: Cancel | undefined;
  let tellingRoom: Cancel | undefined;
  let tellingNews: Cancel | undefined;
  let isNewsUrgent = false;
  let listening: Cancel | undefined;
  let stopListening: (() => Promise<void>) | undefined;
  let isStopped = false;

  function soon(): void {
    if (!isStopped) telling ??= clock.after(TELL_MS, tellAll);
  }

  function tellLoads(): void {
    tellingRoom?.();
    tellingRoom = undefined;
    if (deps.isFenced()) forget();
    const all = [...loads]
      .filter(([, untold]) => isNewsOfLoad(untold))
      .map(([nodeId, { load }]) => [nodeId, load.used, load.max] as const);
    loads.clear();
    for (const some of portions(all)) hintBus.sayToAll(JSON.stringify({ from: instanceId, loads: some }));
  }

  function tellAll(): void {
    telling = undefined;
    const from = instanceId;
    tellLoads();
    for (const [to, byJob] of partials)
      for (const some of portions([...byJob.values()]))
        hintBus.say(to, JSON.stringify({ from, partials: some }));
    partials.clear();
    if (isNewsUrgent) tellNews();
    for (const [to, list] of missing)
      for (const some of portions(list)) hintBus.say(to, JSON.stringify({ from, missing: some }));
    missing.clear();
  }

  function tellNews(): void {
    tellingNews?.();
    tellingNews = undefined;
    isNewsUrgent = false;
    if (deps.isFenced()) forget();
    for (const [to, list] of news)
      for (const some of portions(list)) hintBus.say(to, JSON.stringify({ from: instanceId, news: some }));
    news.clear();
  }

  /** It may have been taken for dead: what it knows is not for others to believe. */
  function forget(): void {
    loads.clear();
    partials.clear();
    news.clear();
    missing.clear();
  }

  function hear(text: string): void {
    const publish = JSON.parse(text) as Hint;
    if (publish.from === instanceId) return;
    if ('loads' in publish)
      for (const [nodeId, used, max] of publish.loads)
        if (Number.isInteger(used) && Number.isInteger(max)) hearLoad(nodeId, { used, max });
    if ('news' in publish) for (const one of publish.news) if (isNews(one)) hearNews(one);
    if ('missing' in publish)
      for (const one of publish.missing) if (Array.isArray(one)) hearMissing(one as unknown as Missing);
    if ('partials' in publish) for (const partial of publish.partials) events.partial(partial);
  }

  function hearLoad(nodeId: NodeId, load: Load): void {
    const untold = loads.get(nodeId);
    if (untold !== undefined) untold.before = load;
    events.loaded(nodeId, load);
  }

  function hearNews([nodeId, word, types = NO_USE.types, services = NO_USE.services]: News): void {
    events.nodeNews(nodeId, word, { types, services });
  }

  function hearMissing([nodeId, serviceId, version, reason]: Missing): void {
    events.missing(nodeId, { serviceId, version, reason });
  }

  /** Deaf is slower, not wrong: it goes on trying to listen. */
  async function listen(): Promise<void> {
    try {
      const end = await hintBus.listen(instanceId, hear);
      if (isStopped) await end();
      else stopListening = end;
    } catch (fault) {
      log.warn({ err: fault }, 'other instances cannot be heard yet');
      if (!isStopped) listening = clock.after(LISTEN_AGAIN_MS, () => void listen());
    }
  }

  return {
    start: listen,
    load(nodeId, load, isReport = false) {
      const untold = loads.get(nodeId);
      const before = untold === undefined ? deps.loadOf(nodeId) : untold.before;
      loads.set(nodeId, { load, before, isReport: isReport || untold?.isReport === true });
      if (isTight(load) || before === undefined || isTight(before)) soon();
      else if (!isStopped) tellingRoom ??= clock.after(ROOMY_MS, tellLoads);
    },
    nodeNews(to, nodeId, word, { types, services }) {
      const list = news.get(to) ?? [];
      news.set(to, list);
      list.push(services.length === 0 ? [nodeId, word, types] : [nodeId, word, types, services]);
      if (isStopped) return;
      if (list.length >= MOST_AT_ONCE) return tellNews();
      tellingNews ??= clock.after(NEWS_MS, tellNews);
      if (word !== 'failed') return;
      isNewsUrgent = true;
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
    async stop() {
      isStopped = true;
      telling?.();
      tellingRoom?.();
      tellingNews?.();
      listening?.();
      await stopListening?.().catch(() => undefined);
    },
  };
}

/** Whoever believes otherwise is soon refused there, or goes elsewhere without need. */
const isTight = ({ used, max }: Load): boolean => 2 * used >= max;

const isNewsOfLoad = ({ load, before, isReport }: Untold): boolean =>
  isReport || load.used !== before?.used || load.max !== before.max;

/** A word of a later version is none of ours: taken for another, it could make a node trusted that is not. */
const isNews = (given: unknown): given is News => {
  if (!Array.isArray(given)) return false;
  const [nodeId, word, types, services] = given as unknown[];
  const isKnown = typeof nodeId === 'string' && (NODE_NEWS as readonly unknown[]).includes(word);
  return isKnown && [types, services].every((words) => words === undefined || isWords(words));
};

function* portions<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += MOST_AT_ONCE) yield all.slice(from, from + MOST_AT_ONCE);
}
