// Makes the tarballs of the packages that users install: node scripts/pack.mjs FOLDER. Two runs on the same files give the same bytes.
// It builds a copy of the files that git knows, as they are now, so that nothing left over in dist gets into a tarball.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const PACKED = ['protocol', 'sdk', 'scheduler'];
/** What the scheduler's package contains of the rest of the repository. */
const WITH_SCHEDULER = ['config.example.toml', 'ops', 'THIRD-PARTY-NOTICES.txt'];

const [given] = process.argv.slice(2);
if (given === undefined) {
  console.error('pack: name the folder for the tarballs: node scripts/pack.mjs FOLDER');
  process.exit(2);
}
const out = resolve(given);
mkdirSync(out, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), 'lingua-pack-'));
try {
  copyKnownFiles();
  linkDependencies();
  run(
    stage,
    process.execPath,
    'scripts/build.mjs',
    ...[...PACKED, 'console'].map((name) => `packages/${name}`),
  );
  for (const name of PACKED) {
    const folder = join(stage, 'packages', name);
    cpSync(join(stage, 'LICENSE'), join(folder, 'LICENSE'));
    withoutSources(join(folder, 'package.json'));
  }
  for (const name of WITH_SCHEDULER)
    cpSync(join(stage, name), join(stage, 'packages/scheduler', name), { recursive: true });
  for (const name of PACKED)
    run(
      join(stage, 'packages', name),
      'npm',
      'pack',
      '--silent',
      '--ignore-scripts',
      '--pack-destination',
      out,
    );
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function copyKnownFiles() {
  for (const path of run(root, 'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split(
    '\0',
  )) {
    // A file that was deleted, but not yet in git.
    if (path === '' || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    cpSync(join(root, path), join(stage, path), { mode: 0 });
  }
}

/** The dependencies are those of the repository; the packages find the copies of each other. */
function linkDependencies() {
  const modules = join(stage, 'node_modules');
  mkdirSync(join(modules, '@lingua'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@lingua' && !name.startsWith('.'))
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
  for (const name of PACKED) symlinkSync(`../../packages/${name}`, join(modules, '@lingua', name));
}

/** The repository's tests read the sources through a condition; the package has none. */
function withoutSources(file) {
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  for (const entry of Object.values(manifest.exports)) delete entry.source;
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
}

function run(cwd, program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(
    `${program} ${args.join(' ')} failed in ${cwd}:\n${error?.message ?? ''}${stdout}${stderr}`,
  );
}
