/** One scheduler as it is shipped, in its own process that reports its state on request. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call } from '../../chaos/wire/call.ts';
import { eventually } from '../../eventually.ts';
import type { Look, LookAnswer, LookOrder } from '../inside/watch.ts';

export interface WatchedInstance {
  readonly name: string;
  readonly port: number;
  /** Rejects if it has ended. */
  look(how: { readonly collects: boolean }): Promise<Look>;
  /** Open files and sockets, as the system counts them; undefined if it does not report them. */
  openFiles(): number | undefined;
  /** Its metrics as it prints them. */
  metrics(): Promise<string>;
  /** What it logged as an error, and how often. A machine that is too busy causes errors, too. */
  errors(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const LINGUA = fileURLToPath(new URL('../../../../packages/scheduler/bin/lingua.js', import.meta.url));
const WATCH = new URL('../inside/watch.js', import.meta.url).href;
const READY_MS = 60_000;
const ANSWER_MS = 30_000;
/** Longer than it may drain. */
const LEAVE_MS = 10_000;

/** Resolves when it is ready. */
export async function startWatchedInstance(options: {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly config: string;
  /** Of Node.js. */
  readonly flags?: readonly string[];
}): Promise<WatchedInstance> {
  const { name, port, flags = [] } = options;
  const configPath = join(options.folder, `${name}.toml`);
  const logPath = join(options.folder, `${name}.log`);
  // It has tokens.
  writeFileSync(configPath, options.config, { mode: 0o600 });
  const log = openSync(logPath, 'w');
  const args = [...flags, '--expose-gc', '--import', WATCH, LINGUA, 'serve', '--config', configPath];
  const child = spawn(process.execPath, args, {
    // Nor the settings of the user who runs this.
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isRunning = false;
      process.off('exit', killWithUs);
      resolve();
    });
  });
  const lastWords = (): string => readFileSync(logPath, 'utf8').split('\n').slice(-20).join('\n');
  const gone = (): Error => new Error(`${name} has ended:\n${lastWords()}`);

  const waiting = new Map<number, (seen: Look) => void>();
  let looks = 0;
  child.on('message', ({ look, seen }: LookAnswer) => {
    waiting.get(look)?.(seen);
    waiting.delete(look);
  });

  await eventually(
    async () => !isRunning || (await call(port, 'GET', '/health/ready', { timeoutMs: 2_000 })).status === 200,
    { withinMs: READY_MS },
  ).catch((cause: unknown) => {
    throw new Error(`${name} was not ready within ${READY_MS} ms:\n${lastWords()}`, { cause });
  });
  if (!isRunning) throw gone();

  return {
    name,
    port,
    async look({ collects }) {
      if (!isRunning) throw gone();
      looks += 1;
      const order: LookOrder = { look: looks, collects };
      const answer = new Promise<Look>((resolve) => waiting.set(order.look, resolve));
      child.send(order);
      const timer = new AbortController();
      const late = new Promise<never>((_, reject) => {
        const timeout = setTimeout(() => reject(new Error(`${name} does not report its state`)), ANSWER_MS);
        timer.signal.addEventListener('abort', () => clearTimeout(timeout));
      });
      const over = ended.then(() => Promise.reject(gone()));
      try {
        return await Promise.race([answer, late, over]);
      } finally {
        timer.abort();
      }
    },
    openFiles() {
      try {
        return readdirSync(`/proc/${child.pid}/fd`).length;
      } catch {
        return undefined;
      }
    },
    async metrics() {
      const { status, body } = await call<string>(port, 'GET', '/metrics', { timeoutMs: ANSWER_MS });
      if (status !== 200) throw new Error(`${name} answered ${status} to a request for its metrics`);
      return body;
    },
    errors: () => errorsIn(readFileSync(logPath, 'utf8')),
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), LEAVE_MS);
      child.kill('SIGTERM');
      await ended;
      clearTimeout(timer);
    },
  };
}

function errorsIn(log: string): Map<string, number> {
  const errors = new Map<string, number>();
  for (const line of log.split('\n')) {
    const message = /"level":"(?:error|fatal)".*"msg":"([^"]*)"/.exec(line)?.[1];
    if (message !== undefined) errors.set(message, (errors.get(message) ?? 0) + 1);
  }
  return errors;
}
