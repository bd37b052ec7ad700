/** One fuzz run: frames and requests side by side, then whether the target is as it was before. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSeededChance } from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { ask } from '../chaos/wire/call.ts';
import { STEADY_AFTER_S } from '../soak/rig/settings.ts';
import type { FuzzCommand } from './command.ts';
import { fuzzFrames } from './fuzz-frames.ts';
import { fuzzRequests, type RequestFault } from './fuzz-requests.ts';
import { type FuzzTarget, type Memory, startTarget } from './start-target.ts';

export interface FuzzReport {
  readonly place: FuzzCommand['place'];
  readonly seed: number;
  readonly frames: number;
  readonly requests: number;
  /** How many answers had each status; a 5xx is named with its error code. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly faults: readonly RequestFault[];
  readonly errors: Readonly<Record<string, number>>;
  /** Absent: it was not measured. */
  readonly memory?: { readonly before: Memory; readonly after: Memory } | undefined;
  /** What is wrong, in words; none: nothing. */
  readonly problems: readonly string[];
}

/** The share that warms up caches and compiled code before the first measurement. */
const WARM_UP = 0.1;
/** Fragmented pages and compiled code stay: more than this is a leak. */
const MB = 1024 * 1024;
const [HEAP_ROOM, RSS_ROOM] = [24 * MB, 192 * MB];

export async function runFuzz(command: FuzzCommand): Promise<FuzzReport> {
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

  try {
    await fuzz(WARM_UP);
    const before = measuresMemory ? await atRest(target) : undefined;
    await fuzz(1 - WARM_UP);
    const live = await ask(target.port, 'GET', '/health/live', { timeoutMs: 30_000 });
    const after = measuresMemory ? await atRest(target) : undefined;
    const errors = Object.fromEntries(target.errors());
    const problems = [
      ...(live === 200 ? [] : [`/health/live is answered with ${live}`]),
      ...(faults.length === 0 ? [] : [`${faults.length} requests got an answer that none may get`]),
      ...Object.entries(errors).map(([message, count]) => `logged ${count} times: ${message.slice(0, 500)}`),
      ...(before === undefined || after === undefined ? [] : growthOf(before, after)),
    ];
    const memory = before && after && { before, after };
    return {
      place,
      seed,
      frames: command.frames,
      requests: command.requests,
      statuses,
      faults,
      errors,
      memory,
      problems,
    };
  } finally {
    await target.stop();
  }
}

/** After everything that is kept for a time has gone. */
async function atRest(target: FuzzTarget): Promise<Memory> {
  await sleep((STEADY_AFTER_S + 5) * 1_000);
  return target.memory();
}

function growthOf(before: Memory, after: Memory): string[] {
  const grown = { heap: after.heap - before.heap, rss: after.rss - before.rss };
  return [
    ...(grown.heap > HEAP_ROOM ? [`the heap grew by ${Math.round(grown.heap / MB)} MB`] : []),
    ...(grown.rss > RSS_ROOM ? [`the memory of the process grew by ${Math.round(grown.rss / MB)} MB`] : []),
  ];
}
