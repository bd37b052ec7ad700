/** One scheduler process, with its log in a file. Ends with the run, if it has not ended before. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import type { LogLine } from '../../checker/instances.ts';
import { eventually } from '../../eventually.ts';
import { call } from '../wire/call.ts';

export interface Instance {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly logPath: string;
  readonly configPath: string;
  isRunning(): boolean;
  /** Resolves with the exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** Asks it to drain; resolves when it has ended. If it does not end it is killed, which is a violation. */
  terminate(): Promise<void>;
}

const LINGUA = fileURLToPath(new URL('../../../../packages/scheduler/bin/lingua.js', import.meta.url));
const SURROUNDINGS = new URL('../inside/surroundings.js', import.meta.url).href;
const READY_MS = 20_000;
/** Longer than it may drain. */
const LEAVE_MS = 30_000;

/** Resolves when it is ready. */
export async function startInstance(options: {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly config: string;
  readonly recorder: Recorder;
  /** Where connections to these ports go instead. */
  readonly detours: ReadonlyMap<number, number>;
  /** How far its clock is ahead of the others. */
  readonly clockAheadMs: number;
  /** Of Node.js. */
  readonly nodeFlags?: readonly string[];
  /** Of `lingua serve`. */
  readonly serveFlags?: readonly string[];
  /** It serves TLS, with a certificate that this one has signed. */
  readonly ca?: string | undefined;
}): Promise<Instance> {
  const { name, port, recorder, nodeFlags = [], serveFlags = [], ca } = options;
  const configPath = join(options.folder, `${name}.toml`);
  const logPath = join(options.folder, `${name}.log`);
  // It has tokens.
  writeFileSync(configPath, options.config, { mode: 0o600 });
  const log = openSync(logPath, 'w');
  const args = [
    ...nodeFlags,
    '--import',
    SURROUNDINGS,
    LINGUA,
    'serve',
    '--config',
    configPath,
    ...serveFlags,
  ];
  const child = spawn(process.execPath, args, {
    // Nor the settings of the user who runs this.
    cwd: '/',
    env: {
      PATH: process.env.PATH ?? '',
      CHAOS_DETOURS: JSON.stringify([...options.detours]),
      CHAOS_CLOCK_AHEAD_MS: String(options.clockAheadMs),
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let isRunning = true;
  let meant: NodeJS.Signals | undefined;
  let wasUp = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      isRunning = false;
      process.off('exit', killWithUs);
      // A process that gets the signal to end must end in order.
      const isMeant = meant === 'SIGKILL' || (meant === 'SIGTERM' && code === 0);
      if (wasUp) recorder.record({ kind: 'instance_down', instance: name, isMeant });
      resolve(code);
    });
  });
  await eventually(
    async () => {
      if (!isRunning) return true;
      return (await call(port, 'GET', '/health/ready', { timeoutMs: 500, ca })).status === 200;
    },
    { withinMs: READY_MS },
  ).catch(async (fault: unknown) => {
    // Otherwise it might become ready after all, in the place of its successor.
    child.kill('SIGKILL');
    await ended;
    throw new Error(`${name} was not ready within ${READY_MS} ms:\n${readFileSync(logPath, 'utf8')}`, {
      cause: fault,
    });
  });
  if (!isRunning) throw new Error(`${name} ended before it was ready:\n${readFileSync(logPath, 'utf8')}`);
  wasUp = true;
  recorder.record({ kind: 'instance_up', instance: name });

  function end(signal: NodeJS.Signals): Promise<number | null> {
    meant = signal;
    child.kill(signal);
    return ended;
  }

  return {
    name,
    port,
    pid: child.pid ?? 0,
    logPath,
    configPath,
    ended,
    isRunning: () => isRunning,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async kill() {
      await end('SIGKILL');
    },
    async terminate() {
      const timer = setTimeout(() => child.kill('SIGKILL'), LEAVE_MS);
      await end('SIGTERM');
      clearTimeout(timer);
    },
  };
}

/** Its log lines, in the time of the recorder. */
export function readLog({ name, logPath }: Instance, recorder: Recorder): LogLine[] {
  const epoch = Date.now() - recorder.now();
  return readFileSync(logPath, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((text) => {
      const { time, level } = parseLine(text);
      return { instance: name, at: (time ?? epoch) - epoch, level: level ?? FATAL, text };
    });
}

/** A line that is not a log line was written by a crashing process. */
const FATAL = 60;

function parseLine(text: string): { readonly time?: number; readonly level?: number } {
  try {
    const line = JSON.parse(text) as { time?: number | string; level?: number | string };
    return { time: Number(new Date(line.time ?? 0)), level: levelOf(line.level) };
  } catch {
    return {};
  }
}

const LEVELS: Readonly<Record<string, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
};

const levelOf = (level: number | string | undefined): number =>
  typeof level === 'number' ? level : (LEVELS[level ?? ''] ?? FATAL);
