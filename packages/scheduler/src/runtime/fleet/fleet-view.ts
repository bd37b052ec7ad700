/**
 * Hot path: the fleet as selection sees it, one bitmap per fact and one column per figure.
 *
 * This is the snapshot a decision reads. It is changed in place, but only between decisions: everything runs on one
 * thread and a decision never waits, so none can see half a change. A heartbeat flips at most a few bits.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import { isAccepting, type NodeView } from '../../domain/node.ts';
import { hasBit, putBit } from './bits.ts';
import { createChangeLog } from './change-log.ts';
import { type Columns, createColumns, reach } from './columns.ts';
import { factKey, STATUS_FACTS } from './fact-key.ts';
import { createFactTable, type FactTable } from './fact-table.ts';
import { createNarrow, type Narrow } from './formula.ts';
import { createNumbering } from './numbering.ts';
import { createProfileFacts, type ProfileFacts } from './profile-facts.ts';
import { createRoster, delist, enlist, type Roster } from './roster.ts';
import { createStandingQueries, type StandingQueries } from './standing-queries.ts';

/** What selection and explanation read; nobody else does. Good until the next change of the fleet. */
export interface FleetTable {
  readonly columns: Columns;
  readonly facts: FactTable;
  readonly narrow: Narrow;
  readonly queries: StandingQueries;
  /** The members of a pool; undefined = it has none. */
  pool(poolId: number): Roster | undefined;
  /** −1 = unknown node. */
  indexOf(nodeId: NodeId): number;
}

export interface FleetStats {
  /** Kinds of facts that somebody has. */
  readonly facts: number;
  /** Changes of abilities, marks or existence, ever; heartbeats are not among them. */
  readonly changes: number;
  readonly queries: number;
  readonly rebuilds: number;
}

export interface FleetView {
  upsert(view: NodeView): void;
  remove(nodeId: NodeId): void;
  /** The ledger's word on a node's slots. */
  setLoad(nodeId: NodeId, load: Load): void;
  beat(nodeId: NodeId, at: number): void;
  load(nodeId: NodeId): Load | undefined;
  view(nodeId: NodeId): NodeView | undefined;
  has(nodeId: NodeId): boolean;
  readonly size: number;
  /**
   * A usable node can take something it could not take a moment ago: it became usable, one more of its slots came
   * free, or it gained an ability, a pool or the end of a mark. Called when the change is complete.
   */
  onFree(listen: (nodeId: NodeId) => void): void;
  stats(): FleetStats;
  readonly table: FleetTable;
}

const NOTHING: ProfileFacts = new Set();
const NONE: readonly never[] = [];

export function createFleetView(): FleetView {
  const columns = createColumns();
  const facts = createFactTable(STATUS_FACTS);
  const log = createChangeLog();
  const narrow = createNarrow(facts);
  const queries = createStandingQueries(facts, narrow, log, columns);
  const pools = new Map<number, Roster>();
  const numbering = createNumbering();
  const factsOf = createProfileFacts();
  const views: (NodeView | undefined)[] = [];
  const listeners: ((nodeId: NodeId) => void)[] = [];

  const viewAt = (index: number): NodeView | undefined => (index === -1 ? undefined : views[index]);

  /** Flips only what differs; answers whether anything did. */
  function putAll(index: number, before: ProfileFacts, after: ProfileFacts): boolean {
    let isNews = false;
    if (before === after) return isNews;
    for (const key of before) if (!after.has(key)) isNews = facts.put(key, index, false) || isNews;
    for (const key of after) if (!before.has(key)) isNews = facts.put(key, index, true) || isNews;
    return isNews;
  }

  const putMarks = (index: number, before: readonly string[], after: readonly string[]): boolean =>
    putList(before, after, (id, isMarked) => facts.put(factKey.marked(id), index, isMarked));

  const putPools = (index: number, before: readonly number[], after: readonly number[]): boolean =>
    putList(before, after, (id, isMember) => putPool(index, id, isMember));

  function putPool(index: number, poolId: number, isMember: boolean): boolean {
    if (!facts.put(factKey.pool(poolId), index, isMember)) return false;
    const roster = pools.get(poolId) ?? createRoster();
    if (isMember) enlist(roster, index);
    else delist(roster, index);
    if (roster.count === 0) pools.delete(poolId);
    else pools.set(poolId, roster);
    return true;
  }

  function putStatus(index: number, view: NodeView): void {
    facts.put('ready', index, view.health === 'ready');
    facts.put('offline', index, view.health === 'offline');
    facts.put('fresh', index, view.isFresh);
    facts.put('calm', index, view.isCalm);
    facts.put('cordoned', index, view.isCordoned);
    facts.put('ejected', index, view.isEjected);
    putBit(columns.queueing, index, view.isQueueing);
  }

  function putUsable(index: number, isUsable: boolean): boolean {
    const wasUsable = hasBit(columns.usable, index);
    if (wasUsable === isUsable) return false;
    putBit(columns.usable, index, isUsable);
    if (isUsable) enlist(columns.usableRoster, index);
    else delist(columns.usableRoster, index);
    return true;
  }

  /** Draws the conclusions of whatever changed, and tells who waits for it. */
  function settle(index: number, view: NodeView, hasGained: boolean): void {
    const freeBefore = columns.free[index] as number;
    const free = Math.max(0, (columns.max[index] as number) - (columns.used[index] as number));
    columns.free[index] = free;
    if (free > 0 !== freeBefore > 0) facts.put('free', index, free > 0);
    const isUsable = free > 0 && isWilling(view);
    const isNews = putUsable(index, isUsable);
    if (!isUsable || !(isNews || hasGained || free > freeBefore)) return;
    for (const listen of listeners) listen(view.nodeId);
  }

  function admit(nodeId: NodeId): number {
    const index = numbering.give(nodeId);
    reach(columns, index);
    columns.ids[index] = nodeId;
    facts.put('alive', index, true);
    return index;
  }

  function retire(index: number, view: NodeView): void {
    putAll(index, factsOf(view.profile), NOTHING);
    putMarks(index, view.markedServices, NONE);
    putPools(index, view.poolIds, NONE);
    for (const key of STATUS_FACTS) facts.put(key, index, false);
    putUsable(index, false);
    columns.used[index] = 0;
    columns.max[index] = 0;
    columns.free[index] = 0;
    columns.ids[index] = undefined;
    views[index] = undefined;
  }

  return {
    upsert(view) {
      const known = numbering.indexOf(view.nodeId);
      const index = known === -1 ? admit(view.nodeId) : known;
      const before = views[index];
      if (before === view) return;
      views[index] = view;
      const oldFacts = before === undefined ? NOTHING : factsOf(before.profile);
      const isAble = putAll(index, oldFacts, factsOf(view.profile));
      const isMarked = putMarks(index, before?.markedServices ?? NONE, view.markedServices);
      const isPooled = putPools(index, before?.poolIds ?? NONE, view.poolIds);
      if (known === -1 || isAble || isMarked) log.note(index);
      putStatus(index, view);
      columns.beatAt[index] = view.lastBeatAt;
      // The ledger's word on the slots stands until the node itself declares another number.
      if (before?.slots !== view.slots) columns.max[index] = view.slots;
      settle(index, view, isAble || isMarked || isPooled);
    },
    remove(nodeId) {
      const index = numbering.indexOf(nodeId);
      const view = viewAt(index);
      if (view === undefined) return;
      retire(index, view);
      numbering.takeBack(nodeId);
      log.note(index);
    },
    setLoad(nodeId, load) {
      const index = numbering.indexOf(nodeId);
      const view = viewAt(index);
      if (view === undefined) return;
      columns.used[index] = load.used;
      columns.max[index] = load.max;
      settle(index, view, false);
    },
    beat(nodeId, at) {
      const index = numbering.indexOf(nodeId);
      if (index !== -1) columns.beatAt[index] = at;
    },
    load(nodeId) {
      const index = numbering.indexOf(nodeId);
      if (index === -1) return undefined;
      return { used: columns.used[index] as number, max: columns.max[index] as number };
    },
    view: (nodeId) => viewAt(numbering.indexOf(nodeId)),
    has: (nodeId) => numbering.indexOf(nodeId) !== -1,
    get size() {
      return numbering.size;
    },
    onFree: (listen) => {
      listeners.push(listen);
    },
    stats: () => ({
      facts: facts.size,
      changes: log.count,
      queries: queries.size,
      rebuilds: queries.rebuilds,
    }),
    table: {
      columns,
      facts,
      narrow,
      queries,
      pool: (poolId) => pools.get(poolId),
      indexOf: numbering.indexOf,
    },
  };
}

/** Selection states the same rule as clauses (select/clauses.ts), to say which part failed. */
const isWilling = (view: NodeView): boolean =>
  isAccepting(view) && view.isFresh && view.isCalm && !view.isEjected;

/** Puts only what differs; answers whether anything did. */
function putList<T>(
  before: readonly T[],
  after: readonly T[],
  put: (item: T, isTrue: boolean) => boolean,
): boolean {
  if (before === after) return false;
  let isNews = false;
  for (const item of before) if (!after.includes(item)) isNews = put(item, false) || isNews;
  for (const item of after) isNews = put(item, true) || isNews;
  return isNews;
}
