/** Memory of a registered node and of a job in flight. */
import { createEmbeddedEngine, request } from './embedded-engine.ts';
import { type Figure, memoryBytes } from './measure.ts';
import { logLine } from './show.ts';

export async function memory(options: { nodes: number; jobs: number }): Promise<Figure[]> {
  logLine(`memory: ${options.nodes} nodes, ${options.jobs} jobs`);
  const warm = await createEmbeddedEngine(1_000, 4);
  for (let i = 0; i < 1_000; i++) await warm.jobs.dispatch(request());
  warm.stop();
  const empty = await memoryBytes();
  const engine = await createEmbeddedEngine(options.nodes, Math.ceil((2 * options.jobs) / options.nodes));
  const registered = await memoryBytes();
  for (let i = 0; i < options.jobs; i++) {
    const outcome = await engine.jobs.dispatch(request());
    if (outcome.kind !== 'dispatched') throw new Error(outcome.message);
  }
  const flying = await memoryBytes();
  const inFlight = engine.jobs.inFlight();
  engine.stop();
  if (inFlight !== options.jobs) throw new Error(`${inFlight} jobs in flight instead of ${options.jobs}`);
  return [
    {
      scenario: 'memory',
      name: 'per registered node',
      value: (registered - empty) / options.nodes / 1_024,
      unit: 'KB',
      target: { atMost: 4 },
    },
    {
      scenario: 'memory',
      name: 'per job in flight, without audio',
      value: (flying - registered) / options.jobs / 1_024,
      unit: 'KB',
      target: { atMost: 2 },
    },
  ];
}
