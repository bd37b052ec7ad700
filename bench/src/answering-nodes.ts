/**
 * Runs in its own process: SDK nodes over real WebSockets that finish every job at once, or after a while. Arguments: url, nodes,
 * slots, milliseconds that a job takes. Prints "ready" when all are registered; ends with its standard input.
 */
import { createNode, SILENT_LOG } from '@lingua/sdk/node';
import { simulatedCapabilities } from '../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';
import { LANGUAGES } from './embedded-engine.ts';

const [url, count, slots, workMs = '0'] = process.argv.slice(2) as [string, string, string, string?];
const TRANSLATION = { text_asr: 'hello', text_translated: 'hallo' };

const nodes = Array.from({ length: Number(count) }, (_, index) =>
  createNode({
    log: SILENT_LOG,
    url,
    nodeId: `node-bench-${index}`,
    maxConcurrentJobs: Number(slots),
    capabilities: simulatedCapabilities(LANGUAGES, false),
    // Not the load of the machine, which they share with everything that is measured: a busy node would get no jobs.
    resources: () => ({ cpu_percent: 20, mem_percent: 20 }),
    onJob: async () => {
      if (workMs !== '0') await new Promise((resolve) => setTimeout(resolve, Number(workMs)));
      return TRANSLATION;
    },
  }),
);
await Promise.all(nodes.map((node) => node.start()));
process.stdout.write('ready\n');
process.stdin.on('end', () => {
  void Promise.all(nodes.map((node) => node.stop())).then(() => process.exit(0));
});
process.stdin.resume();
