/** The whole decision in process: bind, select, reserve, state, null transport, at four fleet sizes and 70 % busy. */
import { createEmbeddedEngine, RESULT, request } from './embedded-engine.ts';
import { cpuMicros, type Figure, median } from './measure.ts';
import { say } from './show.ts';

const SLOTS = 4;
const BUSY = 0.7;

type Engine = Awaited<ReturnType<typeof createEmbeddedEngine>>;

interface Held {
  readonly jobId: string;
  readonly nodeId: string;
}

async function dispatch(engine: Engine): Promise<Held> {
  const outcome = await engine.jobs.dispatch(request());
  if (outcome.kind !== 'dispatched') throw new Error(`refused: ${outcome.message}`);
  return { jobId: outcome.job.jobId, nodeId: outcome.job.fence?.nodeId ?? '' };
}

async function fill(engine: Engine, jobs: number): Promise<Held[]> {
  const held: Held[] = [];
  for (let i = 0; i < jobs; i++) held.push(await dispatch(engine));
  return held;
}

async function finish(engine: Engine, held: readonly Held[]): Promise<void> {
  for (const { jobId, nodeId } of held) await engine.jobs.finish({ jobId, nodeId, attempt: 1 }, RESULT);
}

/**
 * CPU microseconds per dispatch over `count` of them, garbage collection included; their finishing is not counted.
 * CPU time, because the promise is per core, and the machine may be busy with something else.
 */
async function timeDispatches(engine: Engine, count: number, batch: number): Promise<number> {
  let micros = 0;
  for (let done = 0; done < count; done += batch) {
    const start = cpuMicros();
    const held = await fill(engine, batch);
    micros += cpuMicros() - start;
    await finish(engine, held);
  }
  return micros / count;
}

export async function decision(options: {
  sizes: readonly number[];
  rounds: number;
  perRound: number;
}): Promise<Figure[]> {
  const engines = new Map<number, Engine>();
  const times = new Map<number, number[]>();
  for (const size of options.sizes) {
    say(`decision: registering ${size} nodes`);
    const engine = await createEmbeddedEngine(size, SLOTS);
    engines.set(size, engine);
    await fill(engine, Math.floor(size * SLOTS * BUSY));
    await timeDispatches(engine, options.perRound, batchOf(size));
  }
  // The sizes take turns, so that a slow minute of the machine is a slow minute for all of them.
  for (let round = 0; round < options.rounds; round++) {
    say(`decision: round ${round + 1} of ${options.rounds}`);
    for (const [size, engine] of engines) {
      const micros = await timeDispatches(engine, options.perRound, batchOf(size));
      times.set(size, [...(times.get(size) ?? []), micros]);
    }
  }
  for (const engine of engines.values()) engine.stop();
  const cost = (size: number): number => median(times.get(size) ?? []);
  const figures = options.sizes.map(
    (size): Figure => ({
      scenario: 'decision',
      name: `dispatches at ${size.toLocaleString('en-US')} nodes`,
      value: 1e6 / cost(size),
      unit: '/s per core',
      ...(size === 1_000 && { target: { atLeast: 150_000 } }),
    }),
  );
  const smallest = options.sizes[0] ?? 0;
  const largest = options.sizes.at(-1) ?? 0;
  return [
    ...figures,
    {
      scenario: 'decision',
      name: `cost at ${largest.toLocaleString('en-US')} ÷ at ${smallest}`,
      value: median(
        (times.get(largest) ?? []).map((micros, round) => micros / (times.get(smallest)?.[round] ?? 1)),
      ),
      unit: '×',
      target: { atMost: 3 },
    },
  ];
}

/** Small enough that the fleet stays near 70 % busy. */
const batchOf = (size: number): number => Math.max(10, Math.min(500, Math.floor(size * SLOTS * 0.05)));
