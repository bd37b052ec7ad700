// Makes a release: npm run release -- X.Y.Z [--out FOLDER] [--without-image]. It collects the changelog, sets the version everywhere, commits,
// tags, and puts tarballs, image, bills of materials and checksums into FOLDER. On the commit of that tag it only makes the files: the same
// bytes again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { releaseSection } from './changelog.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Files with the version in their text, other than manifests. */
const NAMED_IN = [
  'docs/asyncapi.json',
  'docs/install.md',
  'docs/openapi.json',
  'ops/compose/compose.yaml',
  'ops/kubernetes/base/kustomization.yaml',
  'ops/kubernetes/overlays/production/kustomization.yaml',
  'ops/kubernetes/overlays/trial/kustomization.yaml',
  'packages/python/pyproject.toml',
  'packages/python/src/lingua_node/__init__.py',
  'packages/sdk/src/client/session-options.ts',
];

/** What a rolling upgrade begins with. */
const EARLIER = 'packages/scheduler/test/packaging/earlier-release';

const { version, out, hasImage } = readArguments(process.argv.slice(2));
const tag = `v${version}`;
const { version: current } = readJson('package.json');
try {
  if (
    hasImage &&
    ['buildah', 'mmdebstrap'].some((program) => spawnSync(program, ['--version']).error !== undefined)
  )
    fail('the image needs the Debian packages buildah and mmdebstrap; or leave it out: --without-image');
  if (git('status', '--porcelain') !== '') fail('there are changes that are not committed');
  if (git('tag', '--list', tag) === '') prepare();
  else if (git('rev-parse', `${tag}^{commit}`) !== git('rev-parse', 'HEAD'))
    fail(`the tag ${tag} exists; check it out to make its files again`);
  const files = makeFiles();
  console.log(`${files.map((name) => `  ${name}`).join('\n')}\nin ${out}`);
  console.log(`next: git push origin HEAD ${tag}, then npm publish for each lingua-*.tgz`);
  console.log(`then replace the tarballs in ${EARLIER} by these: the next build is tested against them`);
} catch (fault) {
  fail(fault instanceof Error ? fault.message : String(fault));
}

function readArguments(args) {
  const options = { out: { type: 'string' }, 'without-image': { type: 'boolean', default: false } };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [given, ...more] = positionals;
    if (!/^\d+\.\d+\.\d+$/.test(given ?? '') || more.length > 0) throw new Error('name one version');
    return {
      version: given,
      out: resolve(values.out ?? join(root, 'release', given)),
      hasImage: !values['without-image'],
    };
  } catch (fault) {
    console.error(
      `release: ${fault.message}\nusage: npm run release -- X.Y.Z [--out FOLDER] [--without-image]`,
    );
    return process.exit(2);
  }
}

/** Changelog, versions, commit and tag. */
function prepare() {
  if (isOlder(version, current)) fail(`${version} is older than ${current}, the version of package.json`);
  const names = readdirSync(join(root, 'changelog'))
    .filter((name) => name !== 'README.md')
    .sort();
  const changelog = releaseSection({
    changelog: read('CHANGELOG.md'),
    fragments: names.map((name) => ({ name, text: read(`changelog/${name}`) })),
    version,
    date: new Date(epoch() * 1_000).toISOString().slice(0, 10),
  });
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
  for (const name of names) rmSync(join(root, 'changelog', name));
  if (version !== current) setVersion();
  // Dated like the commit before, so that the same release is the same commit everywhere.
  const dated = { GIT_AUTHOR_DATE: `${epoch()} +0000`, GIT_COMMITTER_DATE: `${epoch()} +0000` };
  run({ env: dated }, 'git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
  run({ env: dated }, 'git', 'tag', '--annotate', '--message', `Lingua Scheduler ${version}`, tag);
}

function setVersion() {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  const all = ['.', ...folders, 'scripts/generate-client'].map((folder) => join(folder, 'package.json'));
  const manifests = all.filter((path) => existsSync(join(root, path)));
  for (const path of manifests) {
    const manifest = readJson(path);
    writeJson(path, { ...manifest, version, ...withOwn(manifest) });
  }
  const lock = readJson('package-lock.json');
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages))
    if (!path.includes('node_modules/')) Object.assign(entry, { version }, withOwn(entry));
  writeJson('package-lock.json', lock);
  for (const path of NAMED_IN) {
    const text = read(path);
    if (!text.includes(current)) fail(`${path} does not name the version ${current}`);
    writeFileSync(join(root, path), text.replace(current, version));
  }
}

/** Packages of one release need each other exactly. */
function withOwn({ dependencies }) {
  if (dependencies === undefined) return {};
  const entries = Object.entries(dependencies).map(([name, range]) => [
    name,
    name.startsWith('@lingua/') ? version : range,
  ]);
  return { dependencies: Object.fromEntries(entries) };
}

function makeFiles() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const dated = { SOURCE_DATE_EPOCH: String(epoch()) };
  run({}, process.execPath, 'scripts/pack.mjs', out);
  const image = join(out, `lingua-scheduler-${version}-image.tar.gz`);
  if (hasImage) run({}, process.execPath, 'scripts/image.mjs', image, '--packages', out);
  for (const format of ['cyclonedx', 'spdx']) {
    const bill = run({ env: dated }, process.execPath, 'scripts/sbom.mjs', format);
    writeFileSync(join(out, `lingua-scheduler-${version}.${format}.json`), bill);
  }
  wheel(dated);
  const names = readdirSync(out).sort();
  const sums = names.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex')}  ${name}\n`,
  );
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
  return [...names, 'SHA256SUMS'];
}

/** Built from a copy: setuptools writes beside the sources. */
function wheel(env) {
  const copy = mkdtempSync(join(tmpdir(), 'lingua-wheel-'));
  try {
    cpSync(join(root, 'packages/python'), copy, {
      recursive: true,
      filter: (path) => !path.endsWith('__pycache__'),
    });
    const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
    const hint = 'it needs the Debian packages python3-build, python3-setuptools and python3-wheel';
    run({ env, hint }, python, '-m', 'build', '--wheel', '--no-isolation', '--outdir', out, copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** When the present commit was made, in seconds: nothing in a release depends on the clock. */
function epoch() {
  return Number(git('log', '-1', '--format=%ct'));
}

function isOlder(one, other) {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number));
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at] < b[at];
}

function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

function readJson(path) {
  return JSON.parse(read(path));
}

function writeJson(path, value) {
  writeFileSync(join(root, path), `${JSON.stringify(value, undefined, 2)}\n`);
}

function git(...args) {
  return run({}, 'git', ...args).trim();
}

function run({ env = {}, hint }, program, ...args) {
  const options = {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...env },
  };
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (status === 0) return stdout;
  throw new Error(
    `${program} ${args.join(' ')} failed${hint === undefined ? '' : ` (${hint})`}:\n${error?.message ?? ''}${stdout}${stderr}`,
  );
}

function fail(problem) {
  console.error(`release: ${problem}`);
  process.exit(1);
}
