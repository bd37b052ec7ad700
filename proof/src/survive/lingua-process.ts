/** A `lingua` command as a process of its own, which ends with this process. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const LINGUA = fileURLToPath(new URL('../../../packages/scheduler/bin/lingua.js', import.meta.url));

export interface LinguaChild {
  readonly pid: number | undefined;
  /** The exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  kill(): void;
}

export function startLingua(args: readonly string[], onLine?: (line: string) => void): LinguaChild {
  const child = spawn(process.execPath, [LINGUA, ...args], {
    // Without the settings of the user who runs this.
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', onLine === undefined ? 'ignore' : 'pipe', 'ignore'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  if (onLine !== undefined && child.stdout !== null) createInterface(child.stdout).on('line', onLine);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  void ended.then(() => process.off('exit', kill));
  return { pid: child.pid, ended, kill };
}
