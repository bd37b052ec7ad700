/**
 * Simulated stores for contract suites, which wait for replies and do not know virtual time: every call lets a little of it pass,
 * `advance` as much as it says, and while a call is pending it goes on slowly.
 */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { createLines, type Lines } from '../../src/store/servers/lines.ts';
import { createShard } from '../../src/store/servers/shard.ts';

/** Longer than any call takes. */
const CALL_MS = 8;
const STEP_MS = 0.5;
const QUICK_TURNS = 20;

export function createVirtualRig(shardCount = 3) {
  const time = createVirtualTime();
  const chance = seededChance('contracts');
  const machineOf = (name: string): Machine => createMachine({ time, name });
  const shards = Array.from({ length: shardCount }, (_, index) =>
    createShard({ index, clock: machineOf(`shard-${index}`).clock }),
  );
  const rumours = { lost: 0, doubled: 0, late: 0, lateMs: 0 };
  const machine = machineOf('here');
  let goal = 0;
  let open = 0;
  let quickTurns = 0;
  let isTrickling = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (time.now() < goal) await time.runUntil(Math.min(goal, time.now() + STEP_MS));
    running = undefined;
  }

  function passUntil(moment: number): void {
    goal = Math.max(goal, moment);
    running ??= run();
  }

  /** A waiting call that was aborted or woken from outside must look once more before it ends, so time goes on. */
  async function trickle(): Promise<void> {
    isTrickling = true;
    while (open > 0) {
      // Quickly after a call, then with real time: a long wait must not reach its end.
      quickTurns -= 1;
      await (quickTurns > 0 ? nextTurn() : sleep(1));
      passUntil(time.now() + CALL_MS / 2);
      await running;
    }
    isTrickling = false;
  }

  function note(answer: Promise<unknown>): void {
    open += 1;
    const end = (): void => {
      open -= 1;
    };
    answer.then(end, end);
    if (!isTrickling) void trickle();
  }

  return {
    time,
    machine,
    shards,
    planAfter: (ms: number, later: () => void) => void time.at(time.now() + ms, later),
    lines: (of: Machine = machine): Lines =>
      createLines({
        time,
        chance,
        machine: of,
        shards,
        delay: () => 0.1 + 0.9 * chance(),
        commandTimeoutMs: 800,
        rumours,
      }),
    machineOf,
    timed: {
      async advance(ms: number): Promise<void> {
        const moment = time.now() + ms;
        // And a little more: a timer that became due must look before it ends.
        passUntil(moment + CALL_MS);
        while (time.now() < moment) await running;
      },
      now: machine.clock.now,
      close: async (): Promise<void> => undefined,
    },
    /** A port whose every call lets time pass. */
    driven<T extends object>(port: T): T {
      return new Proxy(port, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]) => {
            const answer: unknown = value.apply(target, given);
            passUntil(time.now() + CALL_MS);
            quickTurns = QUICK_TURNS;
            if (answer instanceof Promise) note(answer);
            return answer;
          };
        },
      });
    },
  };
}
