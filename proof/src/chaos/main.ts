/** `npm run chaos`: injects faults into a real cluster of processes under load, and lets the checker judge the history. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, whyNoRedis, whyUnwritable } from '../../../bench/dist/preconditions.js';
import { createRecorder } from '../../../packages/simulation/dist/history.js';
import { checkHistory, type Evidence } from '../checker/check-history.ts';
import { ALLOWANCES } from '../checker/violation.ts';
import { type ChaosCommand, HELP, readCommand, replayOf } from './command.ts';
import { whyNoPython } from './fleet/python-fleet-node.ts';
import { keepHistory, readHistory, whyUnjudgeable } from './history-file.ts';
import { watchLateness } from './report/lateness.ts';
import { printProgress } from './report/progress.ts';
import { printChaos, summarise } from './report/summary.ts';
import { startRedisStore } from './rig/redis-store.ts';
import { runChaos } from './run-chaos.ts';

const [BROKEN, UNUSABLE, INTERRUPTED] = [1, 2, 130];

const print = (line: string): void => void process.stderr.write(`${line}\n`);

// Every process that was started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(INTERRUPTED));

const command = readCommand(process.argv.slice(2), () => Math.floor(Math.random() * 1e9));
if (command === 'help') process.stdout.write(HELP);
else if (typeof command === 'string') {
  print(`chaos: ${command}`);
  process.exitCode = UNUSABLE;
} else if (command.checkPath !== undefined) check(command, command.checkPath);
else {
  const missing = whyImpossible(command);
  if (missing !== undefined) {
    print(`chaos: ${missing}`);
    process.exitCode = UNUSABLE;
  } else if (!(await run(command))) {
    // Every process that it had started ends with this process.
    process.exit(UNUSABLE);
  }
}

function whyImpossible({ isSingleInstance, historyPath }: ChaosCommand): string | undefined {
  const noRedis = isSingleInstance ? undefined : whyNoRedis('run with --alone');
  return noRedis ?? whyUnwritable('--keep-history', historyPath);
}

function check(given: ChaosCommand, path: string): void {
  let history: ReturnType<typeof readHistory>;
  try {
    history = readHistory(path);
  } catch (fault) {
    print(
      `chaos: --check: "${path}" is no history (${codeOf(fault)}); name a file that --keep-history has written`,
    );
    process.exitCode = UNUSABLE;
    return;
  }
  const unjudgeable = whyUnjudgeable(history);
  if (unjudgeable !== undefined) {
    print(`chaos: --check: "${path}" ${unjudgeable}`);
    process.exitCode = UNUSABLE;
    return;
  }
  report(given, { history }, 0);
}

/** False: it was interrupted, and nothing could be judged. */
async function run(given: ChaosCommand): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-chaos-'));
  const recorder = createRecorder();
  print(
    `seed ${given.seed}, ${given.seconds} s; configurations and logs are in ${folder} for as long as it runs`,
  );
  const noPython = whyNoPython();
  if (noPython !== undefined) print(`no nodes with the Python SDK: ${noPython}`);
  const store = given.isSingleInstance ? undefined : await startRedisStore();
  const endProgress = printProgress(recorder, print);
  const lateness = watchLateness();
  let { history } = recorder;
  let isClean = false;
  try {
    const evidence = await runChaos({
      ...given,
      instances: given.isSingleInstance ? 1 : 3,
      store,
      folder,
      recorder,
    });
    endProgress();
    history = evidence.history;
    isClean = report(given, evidence, lateness.latestMs());
    return true;
  } catch (fault) {
    print(`chaos: the run broke off: ${fault instanceof Error ? fault.message : String(fault)}`);
    return false;
  } finally {
    endProgress();
    lateness.stop();
    await store?.stop();
    if (given.historyPath !== undefined) keepHistory(given.historyPath, history);
    if (isClean) rmSync(folder, { recursive: true, force: true });
    else {
      keepHistory(join(folder, 'history.jsonl'), history);
      print(`history and logs stay in ${folder}`);
    }
  }
}

/** True: no invariant was broken. */
function report(given: ChaosCommand, evidence: Evidence, latestMs: number): boolean {
  const { history } = evidence;
  // What a replica has is not lost when it takes over.
  const lossMs = given.durability === 'replica' ? 0 : ALLOWANCES.lossMs;
  const finding = checkHistory(evidence, { ...ALLOWANCES, lossMs });
  const summary = summarise(history, finding, { replay: replayOf(given), latestMs });
  const text = given.isJson ? JSON.stringify(summary, undefined, 2) : printChaos(summary, history, finding);
  process.stdout.write(`${text}\n`);
  const isClean = finding.violations.length === 0;
  if (!isClean) process.exitCode = BROKEN;
  return isClean;
}
