/** Runs the compiled chaos program, as users do. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Summary } from '../../src/chaos/report/summary.ts';

const CHAOS = fileURLToPath(new URL('../../dist/chaos/main.js', import.meta.url));
/**
 * With this seed, instances are killed, frozen and restarted, a master is killed, hash slots move and the store is down, within half
 * a minute.
 */
export const USUAL_SEED = '101050';
export const SEED = process.env.CHAOS_SEED ?? USUAL_SEED;

/** Prints the output of a run that fails. */
export function chaos(
  args: readonly string[],
  env = process.env,
): Promise<{ readonly code: number; readonly text: string; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CHAOS, ...args], { maxBuffer: 1 << 26, env }, (fault, stdout, stderr) =>
      resolve({ code: Number(fault?.code ?? 0), text: stdout, output: stderr }),
    );
  });
}

export async function summaryOf(...args: readonly string[]): Promise<Summary> {
  const { code, text, output } = await chaos(['--seed', SEED, '--json', ...args]);
  if (code > 1) throw new Error(output);
  const summary = JSON.parse(text) as Summary;
  console.log(
    `${output}\n${JSON.stringify({ ...summary, violations: summary.violations.length }, undefined, 1)}`,
  );
  return summary;
}

export const complaintsOf = ({ violations }: Summary): string =>
  violations.map(({ invariant, message, story }) => `${invariant}: ${message}\n${story}`).join('\n\n');
