/** The machine on which the figures were measured: without it they mean nothing. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly redis: string;
  /** Of the minute before the run began: other programs on the machine change the figures. */
  readonly loadBefore: number;
  readonly at: string;
}

function redisVersion(): string {
  try {
    const versionText = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
    return /v=(\S+)/.exec(versionText)?.[1] ?? 'unknown';
  } catch {
    return 'not installed';
  }
}

export const describeMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.version,
  redis: redisVersion(),
  loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  at: new Date().toISOString(),
});
