/** The `lingua` command as a process of its own. Killed at the end of the test that started it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { LINGUA } from './ensure-built.ts';

export interface LinguaProcess {
  out(): string;
  err(): string;
  /** The messages of its log, oldest first. */
  messages(): string[];
  /** The listening URL, once it listens. */
  url(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** `program`: of another installation. */
export function lingua(
  args: readonly string[],
  env: Record<string, string> = {},
  program: string = LINGUA,
): LinguaProcess {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    // Without a config.toml and the settings of the user who runs the tests.
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });

  const lines = (): Record<string, unknown>[] =>
    out
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  const listening = (): Promise<string> =>
    eventually(() => {
      const line = lines().find(({ msg }) => msg === 'listening');
      return line && `http://${line.host}:${line.port}`;
    });

  const early = async (): Promise<never> => {
    const { code } = await ended;
    throw new Error(`lingua ended with ${code} before it listened:\n${err}`);
  };

  return {
    out: () => out,
    err: () => err,
    messages: () => lines().map(({ msg }) => String(msg)),
    url: () => Promise.race([listening(), early()]),
    signal: (name) => child.kill(name),
    ended,
  };
}
