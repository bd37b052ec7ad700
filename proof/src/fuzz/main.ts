/** npm run fuzz: frames and requests that no program should send, and whether the scheduler stands them. */
import { HELP, readCommand } from './command.ts';
import type { Measured } from './judge-memory.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

const [WRONG, UNUSABLE, INTERRUPTED] = [1, 2, 130];

// Every process that was started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(INTERRUPTED));

async function main(argv: readonly string[]): Promise<number> {
  const command = readCommand(argv, () => Math.floor(Math.random() * 1e9));
  if (command === 'help') {
    console.log(HELP);
    return 0;
  }
  if (typeof command === 'string') {
    console.error(`fuzz: ${command}`);
    return UNUSABLE;
  }
  // Not on stdout, where a program may read the report.
  const report = await runFuzz(command, (measured) => console.error(printMemory(measured)));
  console.log(command.isJson ? JSON.stringify(report) : print(report));
  return report.problems.length === 0 ? 0 : WRONG;
}

function print({ seed, place, frames, requests, statuses, faults, problems }: FuzzReport): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  return [
    `seed ${seed}, ${place}: ${frames} frames, ${requests} requests (${counts.join(', ')}; 0: given up or cut)`,
    ...faults.map(({ request, status, body }) => `${status} for ${request}: ${body}`),
    problems.length === 0 ? 'nothing is wrong' : problems.join('\n'),
  ].join('\n');
}

const inMb = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
const printMemory = ({ frames, isAtRest, rss, heap, external, arrayBuffers }: Measured): string =>
  `${frames} frames${isAtRest ? ', at rest' : ''}: RSS ${inMb(rss)}, heap ${inMb(heap)}, external ${inMb(external)}, of it array buffers ${inMb(arrayBuffers)}`;

process.exitCode = await main(process.argv.slice(2));
