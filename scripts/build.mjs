// Builds the packages in the order they depend on one another. What is there is written over, not removed first, so that
// a running scheduler or test never finds its files gone; --clean starts from nothing. Folders as arguments: only these.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const KEPT_MS = 3_600_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const isClean = process.argv.includes('--clean');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const projects = [
  'packages/protocol',
  'packages/sdk',
  'packages/scheduler',
  'packages/speech-node',
  'packages/simulation',
  'bench',
  'proof',
  'packages/console',
];

for (const project of projects) {
  if (wanted.length > 0 && !wanted.includes(project)) continue;
  if (!existsSync(`${root}/${project}/tsconfig.json`)) continue;
  if (isClean) rmSync(`${root}/${project}/dist`, { recursive: true, force: true });
  run(project, 'typescript/bin/tsc', '-p', project);
  // Pages are put together by Vite; there the compiler only checks.
  if (existsSync(`${root}/${project}/vite.config.ts`)) {
    run(
      project,
      'vite/bin/vite.js',
      'build',
      project,
      '--config',
      `${project}/vite.config.ts`,
      '--logLevel',
      'warn',
    );
    removeOldFiles(`${root}/packages/scheduler/dist/console/assets`);
  } else copyLua(`${root}/${project}/src`, `${root}/${project}/dist`);
}

function run(project, script, ...args) {
  const { status } = spawnSync(process.execPath, [`${root}/node_modules/${script}`, ...args], {
    cwd: root,
    // With another value, such as that of tests, Vite would put the paths of the sources into the pages.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'inherit',
  });
  if (status === 0) return;
  console.error(`build: ${project} did not compile`);
  process.exit(status ?? 1);
}

/** Each build names its files anew. Pages that were opened before it still ask for the former ones. */
function removeOldFiles(folder) {
  for (const name of readdirSync(folder)) {
    if (Date.now() - statSync(`${folder}/${name}`).mtimeMs > KEPT_MS) rmSync(`${folder}/${name}`);
  }
}

/** The compiler takes only its own files along. */
function copyLua(from, to) {
  cpSync(from, to, {
    recursive: true,
    filter: (path) => path.endsWith('.lua') || statSync(path).isDirectory(),
  });
}
