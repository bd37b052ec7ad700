/**
 * A process of its own: SDK nodes over real WebSockets that answer every job at once.
 * Arguments: url, nodes, slots. Prints "ready" when all are registered; ends with its standard input.
 */
import { createNode } from '@lingua/sdk/node';
import { simulatedCapabilities } from '../../packages/scheduler/dist/simulation/fleet/simulated-capabilities.js';
import { LANGUAGES } from './embedded-engine.ts';

const [url, count, slots] = process.argv.slice(2) as [string, string, string];

const nodes = Array.from({ length: Number(count) }, (_, index) =>
  createNode({
    url,
    nodeId: `node-bench-${index}`,
    maxConcurrentJobs: Number(slots),
    capabilities: simulatedCapabilities(LANGUAGES, false),
    // Not the machine's, which they share with everything that is measured: a busy one would get no jobs.
    resources: () => ({ cpu_percent: 20, mem_percent: 20 }),
    onJob: async () => ({ text_asr: 'hello', text_translated: 'hallo' }),
  }),
);
await Promise.all(nodes.map((node) => node.start()));
process.stdout.write('ready\n');
process.stdin.on('end', () => {
  void Promise.all(nodes.map((node) => node.stop())).then(() => process.exit(0));
});
process.stdin.resume();
