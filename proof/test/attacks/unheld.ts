/** Runs the command `attack` and returns the verdicts of attacks that were not held off. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Verdict } from '../../src/attacks/run-attacks.ts';

const MAIN = fileURLToPath(new URL('../../dist/attacks/main.js', import.meta.url));

export async function unheld(...flags: readonly string[]): Promise<readonly Verdict[]> {
  const run = promisify(execFile)(process.execPath, [MAIN, '--json', ...flags], {
    maxBuffer: 64 * 1024 * 1024,
  });
  // It exits with 1 if an attack was not held off.
  const { stdout } = await run.catch((fault: { readonly stdout: string }) => fault);
  const verdicts = JSON.parse(stdout) as readonly Verdict[];
  if (verdicts.length === 0) throw new Error(`attack ${flags.join(' ')} performed nothing`);
  return verdicts.filter(({ kind }) => kind !== 'held');
}
