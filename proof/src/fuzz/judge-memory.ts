/** Whether the memory of a fuzzed process keeps growing. Pure. */
import type { Memory } from './start-target.ts';

export interface Measured extends Memory {
  /** Sent so far. */
  readonly frames: number;
  /** Everything that is kept for a time had gone. */
  readonly isAtRest: boolean;
}

const MB = 1024 * 1024;
/** What one part of the run may add: collections and fragments differ that much. */
const ROOM = { heap: 4 * MB, external: 4 * MB, rss: 16 * MB };
const NAMES = { heap: 'the heap', external: 'the memory outside the heap', rss: 'the memory of the process' };

/** `atRest`: after each part of the run. A leak grows in the last one as in the others; what fills up to a limit does not. */
export function growthOf(atRest: readonly Memory[]): string[] {
  const last = atRest.at(-1);
  const earlier = atRest.slice(0, -1);
  if (last === undefined || earlier.length === 0) return [];
  return (['heap', 'external', 'rss'] as const).flatMap((of) => {
    const grown = last[of] - Math.max(...earlier.map((memory) => memory[of]));
    return grown > ROOM[of]
      ? [`${NAMES[of]} grew by ${Math.round(grown / MB)} MB in the last part of the run`]
      : [];
  });
}
