/**
 * Simulation: the connection of one process to one shard. Requests arrive in the order they were sent, replies in the order they
 * were made; each direction takes its time. A request without a reply in time has failed, and it is unknown whether it was executed.
 * Like the real connections, it sends nothing more to a shard that let a request time out until that shard has answered a probe.
 */
import { SchedulerError } from '../../../../scheduler/dist/domain/errors.js';
import type { Machine } from '../../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../../scheduler/dist/ports/chance.js';
import type { Cancel } from '../../../../scheduler/dist/ports/clock.js';
import type { Shard } from './shard.ts';

export interface Line {
  readonly shard: Shard;
  ask<T>(what: string, run: (shard: Shard) => T): Promise<T>;
  /** Whether it sends nothing at present. */
  isSilent(): boolean;
  /** Which master it is connected to. */
  readonly master: number;
  /** Connects to the master that serves the shard by then, and calls back. */
  findMaster(afterMs: number, found: () => void): void;
  /** Carries something from one end to the other, or later if the connection is cut. */
  cross(run: () => void): void;
  cut(): void;
  heal(): void;
  readonly isCut: boolean;
  /** From now on each direction may take this much longer. */
  slowMs: number;
  close(): void;
}

interface Call {
  readonly what: string;
  readonly run: (shard: Shard) => unknown;
  readonly resolve: (reply: never) => void;
  readonly reject: (fault: Error) => void;
  reply: unknown;
  isOver: boolean;
}

/** Requests of one moment travel together. */
interface Batch {
  readonly sentAt: number;
  /** By the clock of the process, which decides the timeout. */
  readonly ownSentMs: number;
  readonly master: number;
  readonly calls: Call[];
  /** How many of them have no outcome. */
  open: number;
}

const LOST = Symbol('lost');
const PROBE_MS = 100;
/** So many settled batches are removed at once. */
const MOST_FORGOTTEN = 256;

export const storeDown = (what: string, why: string, isUnsent = false): SchedulerError =>
  new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `the store did not answer: ${what} (${why})`, { isUnsent });

/** The clock of a machine that was suspended is a rounded sum: a shorter wait might never end. */
const LEAST_MS = 0.001;

export function createLine(deps: {
  time: VirtualTime;
  chance: Chance;
  machine: Machine;
  shard: Shard;
  /** How long one direction takes, drawn for each message. */
  delay: () => number;
  commandTimeoutMs: number;
}): Line {
  const { time, chance, machine, shard, delay, commandTimeoutMs } = deps;
  /** In the order they were sent; batches before `front` are settled. */
  let pending: Batch[] = [];
  let front = 0;
  let leaving: Batch | undefined;
  let lastArrival = 0;
  let lastReply = 0;
  let held: (() => void)[] | undefined;
  let isSilent = false;
  let isProbing = false;
  let isClosed = false;
  let cancelWatchdog: Cancel | undefined;

  const late = (mostMs: number): number => (mostMs > 0 ? chance() * mostMs : 0);
  const way = (): number => delay() + late(line.slowMs);

  function cross(run: () => void): void {
    if (held === undefined) run();
    else held.push(run);
  }

  /** From one end to the other, at this time. */
  function carry(when: number, run: () => void): void {
    time.at(when, () => cross(run));
  }

  function send(call: Call): void {
    const now = time.now();
    if (leaving === undefined || leaving.sentAt !== now || leaving.master !== line.master) {
      const batch: Batch = {
        sentAt: now,
        ownSentMs: machine.uptimeMs(),
        master: line.master,
        calls: [],
        open: 0,
      };
      leaving = batch;
      pending.push(batch);
      lastArrival = Math.max(lastArrival, now + way() + late(shard.slowMs));
      carry(lastArrival, () => arrive(batch));
      cancelWatchdog ??= machine.clock.after(commandTimeoutMs, watch);
    }
    leaving.calls.push(call);
    leaving.open += 1;
  }

  function arrive(batch: Batch): void {
    if (batch.master !== shard.master || shard.isAway) reset(batch);
    else shard.reach(() => execute(batch));
  }

  function execute(batch: Batch): void {
    const { requests, replies } = shard.loss;
    for (const call of batch.calls) {
      if (requests > 0 && chance() < requests) continue;
      const reply = call.run(shard);
      if (replies === 0 || chance() >= replies) call.reply = reply;
    }
    lastReply = Math.max(lastReply, time.now() + way());
    carry(lastReply, () => machine.deliver(() => settle(batch)));
  }

  function settle(batch: Batch): void {
    // A process that slept checks its clock before it reads what has arrived.
    const isLate = machine.uptimeMs() - batch.ownSentMs > commandTimeoutMs;
    for (const call of batch.calls) {
      if (call.isOver || call.reply === LOST) continue;
      if (isLate) giveUp(batch, call);
      else {
        call.isOver = true;
        batch.open -= 1;
        isSilent = false;
        call.resolve(call.reply as never);
      }
    }
    forgetOver();
  }

  /** Settled batches are dropped: otherwise they would stay until the timeout of the whole connection. */
  function forgetOver(): void {
    while (pending[front]?.open === 0) front += 1;
    if (front < MOST_FORGOTTEN && front < pending.length) return;
    pending = pending.slice(front);
    front = 0;
  }

  /** The server is not running: the process is notified at once, and what it sent is lost. */
  function reset(batch: Batch): void {
    cross(() =>
      machine.deliver(() => {
        for (const call of batch.calls) end(batch, call, 'the connection is closed');
        forgetOver();
      }),
    );
  }

  function end(batch: Batch, call: Call, why: string): void {
    if (call.isOver) return;
    call.isOver = true;
    batch.open -= 1;
    call.reject(storeDown(call.what, why));
  }

  function giveUp(batch: Batch, call: Call): void {
    if (call.isOver) return;
    end(batch, call, 'timed out');
    isSilent = true;
    if (!isProbing) probeLater();
  }

  function watch(): void {
    cancelWatchdog = undefined;
    const now = machine.uptimeMs();
    for (let at = front; at < pending.length; at += 1) {
      const batch = pending[at] as Batch;
      if (batch.ownSentMs + commandTimeoutMs > now) break;
      for (const call of batch.calls) giveUp(batch, call);
    }
    forgetOver();
    const next = pending[front];
    if (next === undefined || isClosed) return;
    cancelWatchdog = machine.clock.after(Math.max(LEAST_MS, next.ownSentMs + commandTimeoutMs - now), watch);
  }

  function probeLater(): void {
    isProbing = true;
    machine.clock.after(PROBE_MS, () => {
      isProbing = false;
      if (!isSilent || isClosed) return;
      // A reply ends the silence. Without one it is probed again.
      call('probing', () => undefined).catch(() => {
        if (isSilent && !isProbing) probeLater();
      });
    });
  }

  const isRefused = (): boolean => held === undefined && (shard.isAway || line.master !== shard.master);

  const call = <T>(what: string, run: (shard: Shard) => T): Promise<T> =>
    isRefused()
      ? Promise.reject(storeDown(what, 'no server is there'))
      : new Promise<T>((resolve, reject) => {
          send({ what, run, resolve, reject, reply: LOST, isOver: false });
        });

  const stopHearing = shard.onCut(() => {
    if (!machine.isAlive()) stopHearing();
    const sent = pending.slice(front);
    time.at(time.now() + delay(), () => {
      for (const batch of sent) reset(batch);
    });
  });

  const line: Line & { master: number; isCut: boolean } = {
    shard,
    ask(what, run) {
      if (isClosed) return Promise.reject(storeDown(what, 'closed', true));
      if (isSilent) return Promise.reject(storeDown(what, 'it does not answer', true));
      return call(what, run);
    },
    isSilent: () => isSilent || isRefused(),
    master: shard.master,
    isCut: false,
    slowMs: 0,
    findMaster(afterMs, found) {
      carry(time.now() + afterMs, () =>
        machine.deliver(() => {
          if (isClosed || shard.isAway || line.master === shard.master) return;
          line.master = shard.master;
          isSilent = false;
          found();
        }),
      );
    },
    cross,
    cut() {
      held ??= [];
      line.isCut = true;
    },
    heal() {
      const waiting = held ?? [];
      held = undefined;
      line.isCut = false;
      for (const run of waiting) run();
    },
    close() {
      isClosed = true;
      stopHearing();
      cancelWatchdog?.();
    },
  };
  return line;
}
