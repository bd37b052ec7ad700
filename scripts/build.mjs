// Builds the packages in the order they depend on one another. What is there is written over, not removed first, so that
// a running scheduler or test never finds its files gone; --clean starts from nothing.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isClean = process.argv.includes('--clean');
const projects = [
  'packages/protocol',
  'packages/sdk',
  'packages/scheduler',
  'packages/simulation',
  'bench',
  'proof',
];

for (const project of projects) {
  if (!existsSync(`${root}/${project}/tsconfig.json`)) continue;
  if (isClean) rmSync(`${root}/${project}/dist`, { recursive: true, force: true });
  const tsc = spawnSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '-p', project], {
    cwd: root,
    stdio: 'inherit',
  });
  if (tsc.status !== 0) {
    console.error(`build: ${project} did not compile`);
    process.exit(tsc.status ?? 1);
  }
  copyLua(`${root}/${project}/src`, `${root}/${project}/dist`);
}

/** The compiler takes only its own files along. */
function copyLua(from, to) {
  cpSync(from, to, {
    recursive: true,
    filter: (path) => path.endsWith('.lua') || statSync(path).isDirectory(),
  });
}
