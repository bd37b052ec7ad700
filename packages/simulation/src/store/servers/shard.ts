/**
 * Simulation: one shard of the store. Whatever reaches it happens at once and whole, as scripts do in Redis, by its own clock. It can
 * freeze — what reaches it happens when it wakes, however long its sender has given up — and die, to be replaced by a copy that lags.
 */
import type { Changeable } from '../../../../scheduler/dist/domain/changeable.js';
import type { Clock } from '../../../../scheduler/dist/ports/clock.js';
import { copyState, createShardState, type ShardState, sweepState } from './shard-state.ts';

/** Somebody who hears what is said on a channel. */
export type Hear = (said: unknown) => void;

/** A connection that is told what must not be lost. */
export interface Listener {
  /** Its shard believes so, at least. */
  isThere(): boolean;
  tell(what: unknown): void;
}

export interface Shard {
  readonly index: number;
  readonly state: ShardState;
  /** Epoch milliseconds, whole, as its server tells them. */
  now(): number;
  /** Epoch microseconds. No two of its scripts begin in the same one, whatever they waited for. */
  micros(): number;
  /** Who serves it: another number after every failover and restart. */
  readonly master: number;
  readonly isAway: boolean;
  readonly isFrozen: boolean;
  /** What is written now survives its master. */
  readonly isReplicating: boolean;
  /** How often a part of it went to another server, with all that it holds. */
  readonly moves: number;
  /** A part is on its way: what reaches the shard may have to wait for as long. */
  readonly slowMs: number;
  /** Chances that what is sent to it, and what it answers, is lost. */
  loss: { requests: number; replies: number };
  /** Happens now, when it wakes, or never if its master is gone by then. */
  reach(run: () => void): void;
  /** Tells everybody who listens there. */
  publish(channel: string, said: unknown): void;
  subscribe(channel: string, hear: Hear): () => void;
  /** Readers that wait for a message, by inbox. Each says whether it took one. */
  readonly waiting: Map<string, Set<() => boolean>>;
  /** Those who are told messages as they are sent, by inbox. */
  readonly listeners: Map<string, Set<Listener>>;
  /** `cut`: the connection to its master is lost. Called by the shard, in the order in which they were given. */
  onCut(cut: () => void): () => void;

  freeze(): void;
  wake(): void;
  beginMove(slowMs: number): void;
  endMove(): void;
  /** From now on its replica hears nothing: what is written is lost if the master is. */
  stopReplication(): void;
  /** The master dies, and nobody serves the shard. */
  goAway(): void;
  /** It is served again, by the replica if replication had stopped. */
  comeBack(): void;
  empty(): void;
}

/** What is over is cleared away this often, by its own clock. */
const SWEEP_MS = 10_000;

export function createShard(deps: { index: number; clock: Clock }): Shard {
  const { clock } = deps;
  let replica: ShardState | undefined;
  let asleep: (() => void)[] | undefined;
  let sweptAt = clock.now();
  let lastMicros = 0;
  const channels = new Map<string, Set<Hear>>();
  const cuts = new Set<() => void>();
  const waiting = new Map<string, Set<() => boolean>>();

  function now(): number {
    const current = clock.now();
    if (current - sweptAt >= SWEEP_MS) {
      sweptAt = current;
      sweepState(shard.state, current);
    }
    return current;
  }

  function micros(): number {
    lastMicros = Math.max(Math.floor(clock.precise() * 1_000), lastMicros + 1);
    return lastMicros;
  }

  function rouse(): void {
    asleep = undefined;
    shard.isFrozen = false;
  }

  function forgetReplica(): void {
    replica = undefined;
    shard.isReplicating = true;
  }

  // Plain fields: objects with getters of their own are slow as soon as there are two of them.
  const shard: Changeable<Shard> = {
    index: deps.index,
    state: createShardState(),
    master: 1,
    isAway: false,
    isFrozen: false,
    isReplicating: true,
    moves: 0,
    slowMs: 0,
    loss: { requests: 0, replies: 0 },
    waiting,
    listeners: new Map(),
    now,
    micros,
    reach(run) {
      if (shard.isAway) return;
      if (asleep === undefined) run();
      else asleep.push(run);
    },
    publish(channel, said) {
      const listening = channels.get(channel);
      if (listening === undefined) return;
      for (const hear of listening) hear(said);
    },
    subscribe(channel, hear) {
      const listening = channels.get(channel) ?? new Set();
      channels.set(channel, listening);
      listening.add(hear);
      return () => {
        listening.delete(hear);
        if (listening.size === 0 && channels.get(channel) === listening) channels.delete(channel);
      };
    },
    onCut(cut) {
      cuts.add(cut);
      return () => void cuts.delete(cut);
    },

    freeze() {
      if (shard.isAway) return;
      asleep ??= [];
      shard.isFrozen = true;
    },
    wake() {
      const due = asleep ?? [];
      rouse();
      for (const run of due) run();
    },
    beginMove(slowMs) {
      shard.moves += 1;
      shard.slowMs = slowMs;
    },
    endMove() {
      shard.moves += 1;
      shard.slowMs = 0;
    },
    stopReplication() {
      replica ??= copyState(shard.state);
      shard.isReplicating = false;
    },
    goAway() {
      if (shard.isAway) return;
      shard.isAway = true;
      // What it had not done yet, nobody does.
      rouse();
      waiting.clear();
      for (const cut of [...cuts]) cut();
    },
    comeBack() {
      if (!shard.isAway) return;
      shard.isAway = false;
      shard.master += 1;
      shard.state = replica ?? shard.state;
      forgetReplica();
    },
    empty() {
      shard.state = createShardState();
      forgetReplica();
    },
  };
  return shard;
}
