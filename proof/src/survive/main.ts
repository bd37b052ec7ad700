/** `npm run survive`: people talk while processes are killed, and it prints what they noticed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoRedis } from '../../../bench/dist/preconditions.js';
import { HELP, readCommand, type SurviveCommand } from './command.ts';
import { runRoom } from './run-room.ts';
import { runSurvive } from './run-survive.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const [FAULTY, UNUSABLE, INTERRUPTED] = [1, 2, 130];

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => {
  process.stderr.write(`survive: ${line}\n`);
  process.exitCode = UNUSABLE;
};

const command = readCommand(process.argv.slice(2));
if (command === 'help') process.stdout.write(HELP);
else if (typeof command === 'string') complain(command);
else {
  const missing = whyNoRedis('run "npx lingua talk" against the demo, which needs no Redis');
  if (missing === undefined) await run(command);
  else complain(missing);
}

async function run(given: SurviveCommand): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-survive-'));
  // Every process that was started ends with this process.
  const end = (): void => process.exit(INTERRUPTED);
  for (const signal of SIGNALS) process.on(signal, end);
  const interruption = (): Promise<void> =>
    new Promise((resolve) => {
      for (const signal of SIGNALS) process.off(signal, end).once(signal, () => resolve());
    });
  try {
    const isFaultless = await (given.isRoom ? runRoom : runSurvive)({
      ...given,
      folder,
      print,
      interruption,
    });
    if (!isFaultless) process.exitCode = FAULTY;
  } catch (fault) {
    complain(fault instanceof Error ? fault.message : String(fault));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
