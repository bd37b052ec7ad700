/** A process with one fleet, as busy as configured: measures decisions and heartbeats by their CPU time on request. */
import { collectGarbage, cpuMicros } from '../measure.ts';
import { createChance } from '../open-loop/chance.ts';
import { createJobMix } from '../open-loop/job-mix.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Who } from '../scenario/vocabulary.ts';
import { serve, startedWith } from './child.ts';
import type { Decided } from './job-target.ts';

export interface DecisionsStart {
  readonly who: Who;
  readonly scenario: Scenario;
}

export interface DecisionsReport {
  readonly decision: number;
  readonly heartbeat: number;
}

const { who, scenario } = startedWith<DecisionsStart>();
const { nodes, slots, busy } = scenario.fleet;
const nextJob = createJobMix(scenario, createChance(1));
/** Small enough that the fleet stays nearly as busy as configured. */
const MOST_BATCH = Math.max(1, Math.min(500, Math.floor(nodes * slots * 0.05)));
/** For contestants of which one decision takes longer than all may. */
const LEAST = 1;
/** Heartbeats take a smaller part of the time: the curve is not about them. */
const BEATS_SHARE = 0.3;

// Loaded only where it is needed, as in the process of jobs.
const target =
  who === 'naive'
    ? (await import('./naive-target.ts')).createNaiveDecisions(scenario)
    : await (await import('./engine-target.ts')).createEngineDecisions(scenario);
await target.occupy(Array.from({ length: Math.floor(nodes * slots * busy) }, nextJob));
let beaten = 0;

/** CPU microseconds per decision; the ends of the jobs are not counted. */
async function decisions(forMicros: number): Promise<number> {
  let [micros, count, size] = [0, 0, Math.min(LEAST, MOST_BATCH)];
  while (micros < forMicros) {
    const jobs = Array.from({ length: size }, nextJob);
    const decided: Decided[] = [];
    const start = cpuMicros();
    for (const job of jobs) {
      const one = await target.decide(job);
      if (one !== undefined) decided.push(one);
    }
    const took = cpuMicros() - start;
    if (decided.length < jobs.length) throw new Error(`${who} refused a job`);
    micros += took;
    count += size;
    // As large as possible, but a batch of a slow contestant must not take much longer than all of them may.
    if (took < forMicros / 4) size = Math.min(MOST_BATCH, size * 2);
    for (const each of decided) await target.end(each);
  }
  return micros / count;
}

async function heartbeats(forMicros: number): Promise<number> {
  let count = 0;
  const start = cpuMicros();
  while (cpuMicros() - start < forMicros || count < LEAST) {
    await target.beat(beaten++ % nodes);
    count += 1;
  }
  return (cpuMicros() - start) / count;
}

serve({}, async ({ seconds }: { seconds: number }): Promise<DecisionsReport> => {
  await target.refresh();
  await collectGarbage();
  const forMicros = seconds * 1e6;
  return {
    decision: await decisions(forMicros * (1 - BEATS_SHARE)),
    heartbeat: await heartbeats(forMicros * BEATS_SHARE),
  };
});
