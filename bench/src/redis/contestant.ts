/** A contestant that takes jobs to their end on Redis, and the two ways jobs arrive: as fast as they end, or at a fixed rate. */
import { cpuMicros } from '../measure.ts';

export interface Contestant {
  /** One job from its beginning to its end. `left`: the job was sent to its worker. */
  run(left?: () => void, serviceMs?: number): Promise<void>;
  /** Removes the remains of earlier jobs, outside of the measurement. */
  tidy(): Promise<void>;
  /** Of its own processes beside this one. */
  otherCpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

export interface Closed {
  readonly perSecond: number;
  /** Per job. */
  readonly cpuMicros: number;
  readonly otherCpuMicros: number;
}

/** This many in flight all the time. */
export async function closedLoop(
  contestant: Contestant,
  { jobs, inFlight }: { jobs: number; inFlight: number },
): Promise<Closed> {
  let left = jobs;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await contestant.run();
  };
  const [otherBefore, ownBefore, start] = [await contestant.otherCpuMicros(), cpuMicros(), performance.now()];
  await Promise.all(Array.from({ length: inFlight }, lane));
  const [ms, own] = [performance.now() - start, cpuMicros() - ownBefore];
  const other = (await contestant.otherCpuMicros()) - otherBefore;
  return { perSecond: (jobs * 1_000) / ms, cpuMicros: own / jobs, otherCpuMicros: other / jobs };
}

/** Closer than timers are. */
const SPIN_MS = 2;

/** Milliseconds from when each job was due until it was sent to its worker, sorted: a late start counts. */
export async function openLoop(
  contestant: Contestant,
  { rate, forMs }: { rate: number; forMs: number },
): Promise<number[]> {
  const total = Math.floor((rate * forMs) / 1_000);
  const times: number[] = [];
  const running: Promise<void>[] = [];
  const start = performance.now();
  for (let i = 0; i < total; i++) {
    const dueAt = start + (i * 1_000) / rate;
    const aheadMs = dueAt - performance.now();
    if (aheadMs > SPIN_MS) await new Promise((resolve) => setTimeout(resolve, aheadMs - SPIN_MS));
    while (performance.now() < dueAt) await new Promise(setImmediate);
    running.push(contestant.run(() => times.push(performance.now() - dueAt)));
  }
  await Promise.all(running);
  if (times.length !== total) throw new Error(`${total - times.length} of ${total} jobs never left`);
  return times.sort((a, b) => a - b);
}
