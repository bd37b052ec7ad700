/** One fuzz run: frames and requests side by side, then whether the target is as it was before. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSeededChance } from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { ask } from '../chaos/wire/call.ts';
import { STEADY_AFTER_S } from '../soak/rig/settings.ts';
import type { FuzzCommand } from './command.ts';
import { fuzzFrames } from './fuzz-frames.ts';
import { fuzzRequests, type RequestFault } from './fuzz-requests.ts';
import { growthOf, type Measured } from './judge-memory.ts';
import { startTarget } from './start-target.ts';

export interface FuzzReport {
  readonly place: FuzzCommand['place'];
  readonly seed: number;
  readonly frames: number;
  readonly requests: number;
  /** How many answers had each status; a 5xx is named with its error code. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly faults: readonly RequestFault[];
  readonly errors: Readonly<Record<string, number>>;
  /** During the run and at rest, in this order; absent: it was not measured. */
  readonly memory?: readonly Measured[] | undefined;
  /** What is wrong, in words; none: nothing. */
  readonly problems: readonly string[];
}

/** Three equal parts: what fills up to a limit has done so in the first two, a leak grows in each. */
const PARTS = 3;
const STEPS_PER_PART = 3;

/** `watched`: sees each measurement when it is taken. */
export async function runFuzz(
  command: FuzzCommand,
  watched?: (measured: Measured) => void,
): Promise<FuzzReport> {
  const { place, seed, measuresMemory } = command;
  const target = await startTarget(place);
  const chance = createSeededChance(seed);
  const statuses: Record<string, number> = {};
  const faults: RequestFault[] = [];

  async function fuzz(share: number): Promise<void> {
    const [, requests] = await Promise.all([
      fuzzFrames(target.port, Math.ceil(command.frames * share), chance),
      fuzzRequests(target.port, target.token, Math.ceil(command.requests * share), chance),
    ]);
    for (const [status, count] of requests.statuses) statuses[status] = (statuses[status] ?? 0) + count;
    faults.push(...requests.faults);
  }

  const memory: Measured[] = [];
  let done = 0;
  async function measure(isAtRest: boolean): Promise<void> {
    if (!measuresMemory) return;
    // After everything that is kept for a time has gone.
    if (isAtRest) await sleep((STEADY_AFTER_S + 5) * 1_000);
    const measured = { frames: Math.round(command.frames * done), isAtRest, ...(await target.memory()) };
    memory.push(measured);
    watched?.(measured);
  }

  try {
    for (let step = 1; step <= PARTS * STEPS_PER_PART; step += 1) {
      await fuzz(1 / (PARTS * STEPS_PER_PART));
      done = step / (PARTS * STEPS_PER_PART);
      await measure(false);
      if (step % STEPS_PER_PART === 0) await measure(true);
    }
    const live = await ask(target.port, 'GET', '/health/live', { timeoutMs: 30_000 });
    const errors = Object.fromEntries(target.errors());
    const problems = [
      ...(live === 200 ? [] : [`/health/live is answered with ${live}`]),
      ...(faults.length === 0 ? [] : [`${faults.length} requests got an answer that none may get`]),
      ...Object.entries(errors).map(([message, count]) => `logged ${count} times: ${message.slice(0, 500)}`),
      ...growthOf(memory.filter(({ isAtRest }) => isAtRest)),
    ];
    return {
      place,
      seed,
      frames: command.frames,
      requests: command.requests,
      statuses,
      faults,
      errors,
      memory: measuresMemory ? memory : undefined,
      problems,
    };
  } finally {
    await target.stop();
  }
}
