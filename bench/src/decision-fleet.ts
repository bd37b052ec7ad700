/**
 * Runs in its own process with one fleet, 70 % busy: measures a round of dispatches on request. Arguments: nodes, dispatches per
 * round, policy of selection (absent: the default). A thread would not do: CPU time is counted per process.
 */
import type { DispatchRequest } from '../../packages/scheduler/dist/domain/dispatch.js';
import { createEmbeddedEngine, RESULT, request } from './embedded-engine.ts';
import { cpuMicros } from './measure.ts';

const SLOTS = 4;
const BUSY = 0.7;
const TEXT = 'Where is the station, please?';

interface Held {
  readonly jobId: string;
  readonly nodeId: string;
}

const [size = 0, perRound = 0] = process.argv.slice(2, 4).map(Number);
const policy = process.argv[4];
/** Small enough that the fleet stays near 70 % busy. */
const batch = Math.max(10, Math.min(500, Math.floor(size * SLOTS * 0.05)));
const engine = await createEmbeddedEngine(
  size,
  SLOTS,
  undefined,
  policy === undefined ? [] : [`scheduler.selection.policy=${policy}`],
);

async function dispatchAll(requests: readonly DispatchRequest[]): Promise<Held[]> {
  const held: Held[] = [];
  for (const each of requests) {
    const outcome = await engine.jobs.dispatch(each);
    if (outcome.kind !== 'dispatched') throw new Error(`refused: ${outcome.message}`);
    held.push({ jobId: outcome.job.jobId, nodeId: outcome.job.fence?.nodeId ?? '' });
  }
  return held;
}

/** A policy that learns needs work whose size is known. */
const requests = (count: number): DispatchRequest[] =>
  Array.from({ length: count }, () => {
    const each = request();
    return policy === undefined ? each : { ...each, spec: { ...each.spec, inputText: TEXT } };
  });

/**
 * CPU microseconds per dispatch, garbage collection included; making the requests and finishing the jobs is not counted. CPU time,
 * because the target is per core, and the machine may be busy with something else.
 */
async function measure(): Promise<number> {
  let micros = 0;
  for (let done = 0; done < perRound; done += batch) {
    const due = requests(batch);
    const start = cpuMicros();
    const held = await dispatchAll(due);
    micros += cpuMicros() - start;
    for (const { jobId, nodeId } of held) await engine.jobs.finish({ jobId, nodeId, attempt: 1 }, RESULT);
  }
  return micros / perRound;
}

await dispatchAll(requests(Math.floor(size * SLOTS * BUSY)));
await measure();
process.send?.('ready');
process.on('message', () => void measure().then((micros) => process.send?.(micros)));
process.on('disconnect', () => process.exit(0));
