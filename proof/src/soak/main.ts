/** `npm run soak`: steady work for a long time, and whether anything grows that must not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoRedis, whyUnwritable } from '../../../bench/dist/preconditions.js';
import { HELP, readCommand, type SoakCommand } from './command.ts';
import { judgeSoak } from './judge/judge-soak.ts';
import { printSoakPage } from './report/print-page.ts';
import { printSoak } from './report/print-soak.ts';
import { printProgress } from './report/progress.ts';
import { runSoak } from './run-soak.ts';

const [GREW, UNUSABLE, INTERRUPTED] = [1, 2, 130];

const print = (line: string): void => void process.stderr.write(`${line}\n`);

// Every process that was started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(INTERRUPTED));

const command = readCommand(process.argv.slice(2), () => Math.floor(Math.random() * 1e9));
if (command === 'help') process.stdout.write(HELP);
else if (typeof command === 'string') {
  print(`soak: ${command}`);
  process.exitCode = UNUSABLE;
} else {
  const missing = whyImpossible(command);
  if (missing === undefined) await run(command);
  else {
    print(`soak: ${missing}`);
    process.exitCode = UNUSABLE;
  }
}

function whyImpossible({ instances, htmlPath }: SoakCommand): string | undefined {
  const noRedis = instances > 1 ? whyNoRedis('run one instance without it (--instances 1)') : undefined;
  return noRedis ?? whyUnwritable('--html', htmlPath);
}

async function run(given: SoakCommand): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-soak-'));
  print(`seed ${given.seed}; configurations and logs are in ${folder} for as long as it runs`);
  const progress = printProgress(given.minutes, process.stderr);
  let isClean = false;
  try {
    const report = judgeSoak(await runSoak(given, { folder, onProgress: progress.onProgress }), given);
    progress.end();
    isClean = report.isClean;
    if (given.htmlPath !== undefined) writeFileSync(given.htmlPath, printSoakPage(report, new Date()));
    process.stdout.write(`${given.isJson ? JSON.stringify(report) : printSoak(report)}\n`);
    if (!isClean) process.exitCode = GREW;
  } catch (fault) {
    progress.end();
    print(`soak: ${fault instanceof Error ? fault.message : String(fault)}`);
    process.exitCode = UNUSABLE;
  } finally {
    if (isClean) rmSync(folder, { recursive: true, force: true });
    else print(`logs stay in ${folder}`);
  }
}
