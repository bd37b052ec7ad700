/**
 * Simulation: a store that several processes share, with the semantics of the Redis adapters and all of their faults. It depends
 * only on virtual time and one source of chance: the same calls and faults give the same replies at the same moments.
 */
import { jobTag } from '../../../scheduler/dist/adapters/shared-jobs/job-scripts.js';
import type { SharedStore } from '../../../scheduler/dist/app/shared-store.js';
import type { JobId, NodeId } from '../../../scheduler/dist/domain/ids.js';
import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import { openStore } from './open-store.ts';
import { createLines, type Lines, type Rumours } from './servers/lines.ts';
import { createShard, type Shard } from './servers/shard.ts';
import { shardOf, tags } from './servers/tags.ts';
import type { MastersWatch } from './servers/watch-masters.ts';
import type { StoreSettings } from './store-settings.ts';

export interface SimulatedStore {
  readonly shards: number;
  /** The store as this process uses it; a process that was started again opens it again. */
  storeFor(machine: Machine): SharedStore;
  shardOfJob(jobId: JobId): number;
  shardOfNode(nodeId: NodeId): number;
  /** The shard with the presence of this instance. */
  shardOfPresence(instanceId: string): number;

  /** A frozen shard executes what it received when it wakes, even if the sender has timed out. */
  freezeShard(shard: number): void;
  wakeShard(shard: number): void;
  /** From now on this share of the requests is lost. */
  loseRequests(shard: number, share: number): void;
  /** From now on this share of the replies is lost. */
  loseReplies(shard: number, share: number): void;
  /** The replica stops receiving now, the master dies `lossMs` later, and the replica serves the shard after another `awayMs`. */
  failOver(shard: number, how: { readonly lossMs: number; readonly awayMs: number }): void;
  /** A part of the shard moves to another server, with all its data. */
  beginMove(shard: number): void;
  endMove(shard: number): void;
  /** Every message between the process and the store takes longer, or no longer does. */
  slowDown(machine: Machine): void;
  speedUp(machine: Machine): void;
  /** Nothing passes between the process and the shards until `heal`; then everything does. All shards unless one is named. */
  partition(machine: Machine, shard?: number): void;
  heal(machine: Machine, shard?: number): void;
  /** The servers stop and keep their data on disk. All of them unless one is named. */
  down(shard?: number): void;
  up(shard?: number): void;
  /** The store loses everything. */
  empty(): void;
  /** How hints and notices are lost, doubled or delayed. */
  spoilRumours(how: Partial<Rumours>): void;
  /** How much of each kind is in it: what must be zero at rest, and what must stay bounded. */
  contents(): StoreContents;
}

export interface StoreContents {
  readonly liveLeases: number;
  readonly liveJobs: number;
  readonly keptJobs: number;
  readonly messages: number;
  readonly waitingEntries: number;
  readonly sessions: number;
}

const SHORTEST_WAY_MS = 0.1;
const LONGEST_WAY_MS = 1;
/** Neither is so slow that most commands time out. */
const SLOW_WAY_MS = 250;
const SLOW_MOVE_MS = 300;
/** How long a process takes to find a new master at most: it tries again this often while one is missing. */
const FINDS_WITHIN_MS = 250;

interface Opened {
  readonly machine: Machine;
  readonly lines: Lines;
  watch: MastersWatch | undefined;
}

export function createSimulatedStore(deps: {
  time: VirtualTime;
  chance: Chance;
  settings: StoreSettings;
  shards?: number;
  /** How wrong the clock of each shard is. */
  clockOffsetMs?: (shard: number) => number;
  onFault?: (fault: unknown) => void;
}): SimulatedStore {
  const { time, chance, settings } = deps;
  const rumours: Rumours = { lost: 0, doubled: 0, late: 0, lateMs: 0 };
  const shards = Array.from({ length: deps.shards ?? 3 }, (_, index) => {
    const clockOffsetMs = deps.clockOffsetMs?.(index) ?? 0;
    return createShard({
      index,
      clock: createMachine({ time, name: `shard-${index}`, clockOffsetMs }).clock,
    });
  });
  let opened: Opened[] = [];

  const delay = (): number => SHORTEST_WAY_MS + chance() * (LONGEST_WAY_MS - SHORTEST_WAY_MS);
  const planAfter = (ms: number, run: () => void): void => void time.at(time.now() + ms, run);
  const shardAt = (index: number): Shard => {
    const shard = shards[index];
    if (shard === undefined) throw new Error(`there is no shard ${index}`);
    return shard;
  };
  const named = (index: number | undefined): readonly Shard[] =>
    index === undefined ? shards : [shardAt(index)];
  const linesBetween = (machine: Machine, index: number | undefined) =>
    opened
      .filter((each) => each.machine === machine)
      .flatMap(({ lines }) => lines.all.filter(({ shard }) => index === undefined || shard.index === index));

  /** Each process finds the new master at its own time; half of them send commands there before their watch has noticed the change. */
  function comeBack(shard: Shard): void {
    if (!shard.isAway) return;
    shard.comeBack();
    for (const each of opened) {
      const isToldLater = chance() < 0.5;
      each.lines.all[shard.index]?.findMaster(chance() * FINDS_WITHIN_MS, () => {
        if (!isToldLater) each.watch?.look();
      });
    }
  }

  return {
    shards: shards.length,
    storeFor(machine) {
      opened = opened.filter((each) => each.machine.isAlive());
      const lines = createLines({ ...settings, time, chance, machine, shards, delay, rumours });
      const own: Opened = { machine, lines, watch: undefined };
      opened.push(own);
      return openStore({
        clock: machine.clock,
        lines,
        settings,
        planAfter,
        onWatch(watch) {
          own.watch = watch;
        },
        onClose() {
          opened = opened.filter((each) => each !== own);
        },
        onFault: deps.onFault,
      });
    },
    shardOfJob: (jobId) => shardOf(tags.job(jobTag(jobId)), shards.length),
    shardOfNode: (nodeId) => shardOf(tags.node(nodeId), shards.length),
    shardOfPresence: (instanceId) => shardOf(tags.presence(instanceId), shards.length),

    freezeShard: (index) => shardAt(index).freeze(),
    wakeShard: (index) => shardAt(index).wake(),
    loseRequests(index, share) {
      shardAt(index).loss.requests = share;
    },
    loseReplies(index, share) {
      shardAt(index).loss.replies = share;
    },
    failOver(index, { lossMs, awayMs }) {
      const shard = shardAt(index);
      shard.stopReplication();
      planAfter(lossMs, () => {
        shard.goAway();
        planAfter(awayMs, () => comeBack(shard));
      });
    },
    beginMove: (index) => shardAt(index).beginMove(SLOW_MOVE_MS),
    endMove: (index) => shardAt(index).endMove(),
    slowDown(machine) {
      for (const line of linesBetween(machine, undefined)) line.slowMs = SLOW_WAY_MS;
    },
    speedUp(machine) {
      for (const line of linesBetween(machine, undefined)) line.slowMs = 0;
    },
    partition(machine, index) {
      for (const line of linesBetween(machine, index)) line.cut();
    },
    heal(machine, index) {
      for (const line of linesBetween(machine, index)) line.heal();
    },
    down(index) {
      for (const shard of named(index)) shard.goAway();
    },
    up(index) {
      for (const shard of named(index)) comeBack(shard);
    },
    empty() {
      for (const shard of shards) shard.empty();
    },
    spoilRumours: (how) => void Object.assign(rumours, how),
    contents: () => contentsOf(shards),
  };
}

function contentsOf(shards: readonly Shard[]): StoreContents {
  const sum = (count: (shard: Shard, now: number) => number): number =>
    shards.reduce((total, shard) => total + count(shard, shard.now()), 0);
  const eachOf = <V>(shelf: Shard['state'][keyof Shard['state']], now: number): V[] =>
    [...shelf.keys()].flatMap((key) => (shelf.get(key, now) as V | undefined) ?? []);
  return {
    liveLeases: sum(({ state }, now) =>
      eachOf<Map<string, number>>(state.leases, now).reduce(
        (live, leases) => live + [...leases.values()].filter((until) => until > now).length,
        0,
      ),
    ),
    liveJobs: sum(
      ({ state }, now) =>
        eachOf<{ isSettled: boolean }>(state.jobs, now).filter((job) => !job.isSettled).length,
    ),
    keptJobs: sum(({ state }) => state.jobs.size() + state.earlierJobs.size()),
    messages: sum(({ state }, now) =>
      eachOf<{ entries: Map<string, unknown> }>(state.inboxes, now).reduce(
        (messages, inbox) => messages + inbox.entries.size,
        0,
      ),
    ),
    waitingEntries: sum(({ state }, now) =>
      eachOf<Map<string, unknown>>(state.mailboxes, now).reduce((all, box) => all + box.size, 0),
    ),
    sessions: sum(({ state }) => state.sessions.size()),
  };
}
