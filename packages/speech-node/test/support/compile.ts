/** Compiles this package, for the programs and worker threads that tests start: Node.js 20 runs no TypeScript. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
let compiled: Promise<unknown> | undefined;

/** Once per test process. The packages that it uses were compiled when they were installed. */
export async function compile(): Promise<void> {
  const tsc = `${ROOT}/node_modules/typescript/bin/tsc`;
  compiled ??= promisify(execFile)(process.execPath, [tsc, '-p', 'packages/speech-node'], { cwd: ROOT });
  await compiled;
}
