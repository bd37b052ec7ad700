/** Cold path: the statistics of this instance, counted a few nodes at a time, so that no job waits for it (I6). */
import { sleep } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CountedNode } from '../node-registry.ts';
import { createPartCount } from './part-count.ts';
import type { StatsPart } from './stats-part.ts';

export interface StatsSources {
  nodes(): Iterator<CountedNode>;
  isInUse(node: CountedNode): boolean;
  activeUsers(): number;
  languages(): Iterable<readonly [string, { readonly asSource: number; readonly asTarget: number }]>;
}

/** Limit of one synchronous piece. */
const SLICE_MS = 2;
/** Nodes or languages between two readings of the clock: one node may have a thousand services. */
const STEP = 4;
/** Applies even if the clock is coarse. */
const MAX_PER_SLICE = 500;

export async function countPart(sources: StatsSources, clock: Clock): Promise<StatsPart> {
  const count = createPartCount();
  await inSlices(sources.nodes(), clock, (node) => count.addNode(node, sources.isInUse(node)));
  await inSlices(sources.languages()[Symbol.iterator](), clock, ([language, { asSource, asTarget }]) =>
    count.addLanguage(language, asSource, asTarget),
  );
  return inSteps(count.result(sources.activeUsers()), clock);
}

async function inSlices<T>(items: Iterator<T>, clock: Clock, take: (item: T) => void): Promise<void> {
  let begunAt = clock.now();
  for (let taken = 1; ; taken += 1) {
    const { value, done } = items.next();
    if (done === true) return;
    take(value);
    const isLong = taken % STEP === 0 && clock.now() - begunAt >= SLICE_MS;
    if (!isLong && taken % MAX_PER_SLICE !== 0) continue;
    await sleep(clock, 0);
    begunAt = clock.now();
  }
}

/** Runs a generator and lets other work run at each `yield`. */
export async function inSteps<T>(steps: Generator<void, T>, clock: Clock): Promise<T> {
  for (;;) {
    const { value, done } = steps.next();
    if (done === true) return value;
    await sleep(clock, 0);
  }
}
