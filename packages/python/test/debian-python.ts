/** Runs Debian's Python, with the SDK's sources and Debian's packages. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Another Python that is first on the path has not Debian's packages. */
export const PYTHON = '/usr/bin/python3';
export const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
export const SOURCES = fileURLToPath(new URL('../src', import.meta.url));

/** No bytecode: tests leave nothing in the sources. */
export const pythonEnv = (path = SOURCES): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  PYTHONPATH: path,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUTF8: '1',
});

export interface Ended {
  readonly code: number;
  readonly output: string;
}

export function python(args: readonly string[], { cwd = PACKAGE, env = pythonEnv() } = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(PYTHON, args, { cwd, env, maxBuffer: 1 << 24 }, (fault, stdout, stderr) =>
      resolve({ code: fault === null ? 0 : Number(fault.code ?? 1), output: stdout + stderr }),
    );
  });
}
