/**
 * Hot path: the fleet as selection reads it, one bitmap per fact and one column per number.
 *
 * This is the snapshot a decision reads. It is changed in place, but only between decisions: everything runs on one thread and a
 * decision never waits, so no decision reads a partial change. A heartbeat changes at most a few bits.
 */

import { countBits, hasBit, putBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import { isAccepting, type NodeView } from '../../domain/node.ts';
import { NodeNumbers, UNNUMBERED } from '../../domain/numbered/node-numbers.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { Regions } from '../../domain/region.ts';
import type { PoolMap } from '../pools/pool-map.ts';
import { createChangeLog } from './change-log.ts';
import { type Columns, createColumns, reach } from './columns.ts';
import { STATUS_FACTS } from './fact-key.ts';
import { createFactTable, type FactTable } from './fact-table.ts';
import { createNarrow, type Narrow } from './formula.ts';
import { createPlainQueries, type PlainQueries } from './plain-queries.ts';
import { createPoolIndex, type PoolIndex } from './pool-index.ts';
import { createProfileFacts, type ProfileFacts } from './profile-facts.ts';
import { NOWHERE, putFacts, putMarks, putPlace, UNMARKED } from './put-facts.ts';
import { createRings, type Rings } from './rings.ts';
import { delist, enlist } from './roster.ts';
import { createStandingQueries, type StandingQueries } from './standing-queries.ts';

/** For selection and explanation only. Valid until the next change of the fleet. */
export interface FleetTable {
  readonly columns: Columns;
  readonly facts: FactTable;
  readonly narrow: Narrow;
  readonly queries: StandingQueries;
  readonly plainQueries: PlainQueries;
  /** Which nodes are in which pool, by the current pool map; undefined = there are no pools. */
  readonly pools: PoolIndex | undefined;
  /** Undefined: selection ignores where nodes are. */
  readonly rings: Rings | undefined;
  /** −1 = unknown node. */
  indexOf(nodeId: NodeId): number;
  /** The id of a chosen node; its number is cached for the next lookups. */
  nameOf(index: number): NodeId;
}

export interface FleetStats {
  /** Number of facts that at least one node has. */
  readonly facts: number;
  /** Number of changes of abilities, marks or membership so far; heartbeats do not count. */
  readonly changes: number;
  readonly queries: number;
  readonly rebuilds: number;
}

export interface FleetView {
  upsert(view: NodeView): void;
  remove(nodeId: NodeId): void;
  /** The slots of a node as the ledger returned them. */
  setLoad(nodeId: NodeId, load: Load): void;
  /** A paused node counts as full, whatever the ledger says. */
  setPaused(nodeId: NodeId, isPaused: boolean): void;
  beat(nodeId: NodeId, at: number): void;
  load(nodeId: NodeId): Load | undefined;
  view(nodeId: NodeId): NodeView | undefined;
  /** The same as in its view, without a lookup of the view. */
  profile(nodeId: NodeId): NodeProfile | undefined;
  has(nodeId: NodeId): boolean;
  readonly size: number;
  /**
   * A node can take a job that it could not take before: it became usable, one more slot became free, or it gained an ability, a
   * pool or the end of a mark. Called when the change is complete.
   */
  onFree(listen: (nodeId: NodeId) => void): void;
  /** A node has announced when it stops, or takes that back. */
  onLeaving(listen: (nodeId: NodeId, at: number | undefined) => void): void;
  /** The current pools; undefined = the fleet is not divided. */
  readonly pools: PoolMap | undefined;
  /**
   * Begins to divide the fleet by another pool map. Each call places some nodes, so that no call takes long; the last call makes
   * the new map current and returns true. Until then the old map applies. A change that is under way is abandoned.
   */
  changePools(poolMap: PoolMap | undefined): (maxNodes: number) => boolean;
  /**
   * Reports usable nodes again, some at a time: waiting jobs may use other nodes than before. Returns where to continue; undefined:
   * done.
   */
  reportFree(from: number, maxNodes: number): number | undefined;
  stats(): FleetStats;
  /** Nodes of all instances: all known ones, those that are not offline, and those that are ready. */
  counts(): { readonly all: number; readonly online: number; readonly ready: number };
  readonly table: FleetTable;
  /** Undefined: the configuration names no region. */
  readonly regions: Regions | undefined;
  /** The numbers of all columns, for other tables about nodes. */
  readonly numbers: NodeNumbers;
}

const NOTHING: ProfileFacts = new Set();
const NONE: readonly never[] = [];
/** A node with more free slots than this has no more weight. */
const MAX_FREE = 0xffff;

export function createFleetView(numbers = new NodeNumbers(), regions?: Regions): FleetView {
  const columns = createColumns();
  const facts = createFactTable(STATUS_FACTS);
  const log = createChangeLog();
  const narrow = createNarrow(facts);
  const queries = createStandingQueries(facts, narrow, log, columns);
  let edition = 0;
  let pools: Division | undefined;
  /** Prepared while the current one is used. */
  let nextPools: Division | undefined;
  const factsOf = createProfileFacts();
  const views: (NodeView | undefined)[] = [];
  /** The statistics a dispatch reads; cached, because few views differ. */
  const profiles: (NodeProfile | undefined)[] = [];
  const listeners: ((nodeId: NodeId) => void)[] = [];
  const leaveListeners: ((nodeId: NodeId, at: number | undefined) => void)[] = [];

  const viewAt = (index: number): NodeView | undefined => (index === UNNUMBERED ? undefined : views[index]);

  /** Other tables may have numbers of nodes that are not in the fleet. */
  function indexOf(nodeId: NodeId): number {
    const index = numbers.find(nodeId);
    return viewAt(index) === undefined ? UNNUMBERED : index;
  }

  const putPools = (division: Division | undefined, index: number, view: NodeView | undefined): boolean =>
    division?.index.put(index, view === undefined ? NONE : division.poolMap.poolsOf(view)) ?? false;

  function putStatus(index: number, view: NodeView): void {
    facts.put('ready', index, view.health === 'ready');
    facts.put('offline', index, view.health === 'offline');
    facts.put('connected', index, view.isConnected);
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

  /** Updates what depends on the changed node, and reports it if it can take more. */
  function settle(index: number, hasGained: boolean): void {
    const freeBefore = columns.free[index] as number;
    const left = (columns.max[index] as number) - (columns.used[index] as number);
    const free = hasBit(columns.paused, index) ? 0 : Math.max(0, Math.min(left, MAX_FREE));
    columns.free[index] = free;
    if (free > 0 !== freeBefore > 0) facts.put('free', index, free > 0);
    const isUsable = free > 0 && hasBit(columns.willing, index);
    const isNews = putUsable(index, isUsable);
    if (!isUsable || !(isNews || hasGained || free > freeBefore)) return;
    for (const listen of listeners) listen(columns.ids[index] as NodeId);
  }

  function admit(nodeId: NodeId): number {
    const index = numbers.keep(nodeId);
    fleet.size += 1;
    reach(columns, index);
    // Without holes, also if other tables have assigned numbers meanwhile.
    while (views.length < index) views.push(undefined);
    while (profiles.length < index) profiles.push(undefined);
    while (columns.ids.length < index) columns.ids.push(undefined);
    columns.ids[index] = nodeId;
    facts.put('alive', index, true);
    return index;
  }

  function retire(index: number, view: NodeView): void {
    putFacts(facts, index, factsOf(view.profile), NOTHING);
    putMarks(facts, index, view, UNMARKED);
    putPlace(facts, index, view, NOWHERE);
    putPools(pools, index, undefined);
    putPools(nextPools, index, undefined);
    for (const key of STATUS_FACTS) facts.put(key, index, false);
    putUsable(index, false);
    columns.used[index] = 0;
    columns.max[index] = 0;
    columns.free[index] = 0;
    columns.ids[index] = undefined;
    putBit(columns.willing, index, false);
    putBit(columns.paused, index, false);
    views[index] = undefined;
    profiles[index] = undefined;
  }

  // Plain fields: objects with own getters are slow as soon as there are two of them.
  const table: Changeable<FleetTable> = {
    columns,
    facts,
    narrow,
    queries,
    plainQueries: createPlainQueries(),
    pools: undefined,
    rings: regions && createRings(regions, facts, queries),
    indexOf,
    nameOf: (index) => numbers.nameOf(index),
  };
  const fleet: Changeable<FleetView> = {
    numbers,
    regions,
    upsert(view) {
      const known = indexOf(view.nodeId);
      const index = known === UNNUMBERED ? admit(view.nodeId) : known;
      const before = views[index];
      if (before === view) return;
      views[index] = view;
      profiles[index] = view.profile;
      const oldFacts = before === undefined ? NOTHING : factsOf(before.profile);
      const isAble = putFacts(facts, index, oldFacts, factsOf(view.profile));
      const isMarked = putMarks(facts, index, before ?? UNMARKED, view);
      const isMoved = putPlace(facts, index, before ?? NOWHERE, view);
      // The pools of a node follow from its profile and its region, which heartbeats do not change.
      const isOther = isMoved || before?.profile !== view.profile;
      const isPooled = isOther && putPools(pools, index, view);
      if (isOther) putPools(nextPools, index, view);
      if (known === UNNUMBERED || isAble || isMarked || isMoved) log.note(index);
      putStatus(index, view);
      columns.beatAt[index] = view.lastBeatAt;
      // The ledger's number of slots applies until the node declares another one.
      if (before?.slots !== view.slots) columns.max[index] = view.slots;
      putBit(columns.willing, index, isWilling(view));
      settle(index, isAble || isMarked || isPooled || isMoved);
      if (before?.leavingAt !== view.leavingAt)
        for (const listen of leaveListeners) listen(view.nodeId, view.leavingAt);
    },
    remove(nodeId) {
      const index = numbers.find(nodeId);
      const view = viewAt(index);
      if (view === undefined) return;
      retire(index, view);
      numbers.drop(index);
      fleet.size -= 1;
      log.note(index);
    },
    setLoad(nodeId, load) {
      const index = numbers.find(nodeId);
      if (index === UNNUMBERED || profiles[index] === undefined) return;
      columns.used[index] = load.used;
      columns.max[index] = load.max;
      settle(index, false);
    },
    setPaused(nodeId, isPaused) {
      const index = indexOf(nodeId);
      if (index === UNNUMBERED) return;
      putBit(columns.paused, index, isPaused);
      settle(index, false);
    },
    beat(nodeId, at) {
      const index = indexOf(nodeId);
      if (index !== UNNUMBERED) columns.beatAt[index] = at;
    },
    load(nodeId) {
      const index = indexOf(nodeId);
      if (index === UNNUMBERED) return undefined;
      return { used: columns.used[index] as number, max: columns.max[index] as number };
    },
    view: (nodeId) => viewAt(numbers.find(nodeId)),
    profile(nodeId) {
      const index = numbers.find(nodeId);
      return index === UNNUMBERED ? undefined : profiles[index];
    },
    has: (nodeId) => viewAt(numbers.find(nodeId)) !== undefined,
    size: 0,
    onFree: (listen) => {
      listeners.push(listen);
    },
    onLeaving: (listen) => {
      leaveListeners.push(listen);
    },
    pools: undefined,
    changePools(poolMap) {
      nextPools?.index.clear();
      const division = poolMap && { poolMap, index: createPoolIndex(facts, ++edition) };
      nextPools = division;
      let at = 0;
      return (maxNodes) => {
        if (nextPools !== division) return true;
        for (const until = at + maxNodes; division !== undefined && at < views.length; at++) {
          if (at >= until) return false;
          if (views[at] !== undefined) putPools(division, at, views[at]);
        }
        pools?.index.clear();
        pools = division;
        fleet.pools = division?.poolMap;
        table.pools = division?.index;
        nextPools = undefined;
        return true;
      };
    },
    reportFree(from, maxNodes) {
      const until = Math.min(views.length, from + maxNodes);
      for (let index = from; index < until; index++) {
        const view = views[index];
        if (view === undefined || !hasBit(columns.usable, index)) continue;
        for (const listen of listeners) listen(view.nodeId);
      }
      return until < views.length ? until : undefined;
    },
    counts: () => ({
      all: fleet.size,
      online: fleet.size - countBits(facts.words('offline')),
      ready: countBits(facts.words('ready')),
    }),
    stats: () => ({
      facts: facts.size(),
      changes: log.count,
      queries: queries.size(),
      rebuilds: queries.rebuilds(),
    }),
    table,
  };
  return fleet;
}

/** The fleet divided by one pool map. */
interface Division {
  readonly poolMap: PoolMap;
  readonly index: PoolIndex;
}

/** For the owner of an object that all others only read. */
type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Would take new jobs if it had a free slot. Selection has the same rule as clauses (select/clauses.ts), to name the part that failed. */
const isWilling = (view: NodeView): boolean =>
  isAccepting(view) && view.isConnected && view.isFresh && view.isCalm && !view.isEjected;
