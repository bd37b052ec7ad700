/** Runs the conformance node of the TypeScript SDK as a process. */
import { createInterface } from 'node:readline';
import type { NodeConfig } from './node-program.ts';
import { startConformanceNode } from './typescript-node.ts';

const node = startConformanceNode(
  JSON.parse(process.env.LINGUA_CONFORMANCE ?? '{}') as NodeConfig,
  (event) => console.log(JSON.stringify(event)),
  () => process.exit(0),
);
const orders = createInterface({ input: process.stdin });
orders.on('line', (line) => node.obey(JSON.parse(line) as Record<string, unknown>));
orders.on('close', () => process.exit(0));
