/** npm run fuzz: frames and requests that no program should send, and whether the scheduler stands them. */
import { HELP, readCommand } from './command.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';
import type { Memory } from './start-target.ts';

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
  const report = await runFuzz(command);
  console.log(command.isJson ? JSON.stringify(report) : print(report));
  return report.problems.length === 0 ? 0 : WRONG;
}

function print({ seed, place, frames, requests, statuses, memory, faults, problems }: FuzzReport): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  return [
    `seed ${seed}, ${place}: ${frames} frames, ${requests} requests (${counts.join(', ')}; 0: given up or cut)`,
    ...(memory === undefined
      ? []
      : [`memory at rest: ${printMemory(memory.before)} before, ${printMemory(memory.after)} after`]),
    ...faults.map(({ request, status, body }) => `${status} for ${request}: ${body}`),
    problems.length === 0 ? 'nothing is wrong' : problems.join('\n'),
  ].join('\n');
}

const inMb = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
const printMemory = ({ rss, heap }: Memory): string => `${inMb(rss)} (heap ${inMb(heap)})`;

process.exitCode = await main(process.argv.slice(2));
