// Runs the tests three times in a row while two busy loops per core compete with them: a test must not depend on a quiet machine.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';

const RUNS = 3;
const LOOPS_PER_CORE = 2;

const loops = Array.from({ length: LOOPS_PER_CORE * availableParallelism() }, () =>
  // Each loop ends with this process, too: then its input ends.
  spawn(
    process.execPath,
    [
      '--eval',
      "process.stdin.resume().on('end', () => process.exit()); (function spin() { const until = Date.now() + 200; while (Date.now() < until); setImmediate(spin); })();",
    ],
    { stdio: ['pipe', 'ignore', 'ignore'] },
  ),
);
const endLoops = () => {
  for (const loop of loops) loop.kill('SIGKILL');
};

let tests;
process.on('exit', endLoops);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    tests?.kill(signal);
    process.exit(1);
  });
}

/** The code with which `npm test` ends; all further arguments go to it. */
const runTests = () =>
  new Promise((resolve) => {
    tests = spawn('npm', ['test', '--', ...process.argv.slice(2)], { stdio: 'inherit' });
    tests.on('error', () => resolve(1));
    tests.on('close', (code) => resolve(code ?? 1));
  });

const lines = [];
let code = 0;
for (let run = 1; run <= RUNS && code === 0; run += 1) {
  const begunAt = Date.now();
  code = await runTests();
  const seconds = Math.round((Date.now() - begunAt) / 1_000);
  lines.push(
    `run ${run} of ${RUNS}, ${loops.length} busy loops: ${code === 0 ? 'green' : 'red'} after ${seconds} s`,
  );
  console.log(lines.join('\n'));
}
process.exit(code);
