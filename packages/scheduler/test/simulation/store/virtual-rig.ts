/**
 * Simulated stores for contract suites, which wait for answers and know nothing of virtual time: every call lets a little of it pass,
 * `advance` as much as it says. Nothing waits for real.
 */

import { createMachine, type Machine } from '../../../src/simulation/kernel/machine.ts';
import { seededChance } from '../../../src/simulation/kernel/seeded-chance.ts';
import { createVirtualTime } from '../../../src/simulation/kernel/virtual-time.ts';
import { createLines, type Lines } from '../../../src/simulation/store/lines.ts';
import { createShard } from '../../../src/simulation/store/shard.ts';

/** Longer than any call takes there and back. */
const CALL_MS = 8;
const STEP_MS = 0.5;

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
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (time.now() < goal) await time.runUntil(Math.min(goal, time.now() + STEP_MS));
    running = undefined;
  }

  function passUntil(moment: number): void {
    goal = Math.max(goal, moment);
    running ??= run();
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
        // And a little more: what became due has to ask before it ends.
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
            return answer;
          };
        },
      });
    },
  };
}
