/**
 * Simulation: one shard of the store. Each command is executed at once and whole, as scripts are in Redis, by the shard's clock. A
 * shard can freeze, and then executes what it received when it wakes, even if the sender has timed out. It can die and be replaced
 * by a copy that lags.
 */
import type { Clock } from '../../../../scheduler/dist/ports/clock.js';
import { copyState, createShardState, type ShardState, sweepState } from './shard-state.ts';

/** A subscriber of a channel. */
export type Hear = (said: unknown) => void;

export interface Shard {
  readonly index: number;
  readonly state: ShardState;
  /** Epoch milliseconds, whole, by the server's clock. */
  now(): number;
  /** Epoch microseconds. No two scripts of a shard begin in the same one. */
  micros(): number;
  /** Which master serves it: another number after every failover and restart. */
  readonly master: number;
  readonly isAway: boolean;
  readonly isFrozen: boolean;
  /** What is written now survives the loss of the master. */
  readonly isReplicating: boolean;
  /** How often a part of it moved to another server, with all its data. */
  readonly moves: number;
  /** A part is being moved: requests may wait for as long. */
  readonly slowMs: number;
  /** Chances that a request, and that a reply, is lost. */
  loss: { requests: number; replies: number };
  /** Runs now, when the shard wakes, or never if its master is gone by then. */
  reach(run: () => void): void;
  /** Sends to all subscribers of the channel. */
  publish(channel: string, said: unknown): void;
  subscribe(channel: string, hear: Hear): () => void;
  /** Readers that wait for a message, by inbox. Each returns whether it took one. */
  readonly waiting: Map<string, Set<() => boolean>>;
  /** `cut`: the connection to the master is lost. Called in the order of registration. */
  onCut(cut: () => void): () => void;

  freeze(): void;
  wake(): void;
  beginMove(slowMs: number): void;
  endMove(): void;
  /** From now on the replica receives nothing: what is written is lost with the master. */
  stopReplication(): void;
  /** The master dies, and no server serves the shard. */
  goAway(): void;
  /** A server serves it again: the replica, if replication had stopped. */
  comeBack(): void;
  empty(): void;
}

/** How often expired entries are removed, by its own clock. */
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

  // Plain fields: objects with their own getters are slow as soon as there are two of them.
  const shard: { -readonly [Name in keyof Shard]: Shard[Name] } = {
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
      // Requests that it had not executed are lost.
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
