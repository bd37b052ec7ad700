// Makes the image of the scheduler, as an archive compressed by gzip: node scripts/image.mjs FILE [--packages FOLDER] [--name NAME].
// gunzip --stdout FILE | podman load, or docker load. Two runs on the same commit give the same bytes, if Debian changed no library meanwhile.
// It needs Debian's buildah and mmdebstrap, and no registry of images. --packages: tarballs that were made before.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodeRuntime } from './node-runtimes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const NODE_MAJOR = 22;
const SUITE = 'bookworm';
const OWN = ['protocol', 'sdk', 'scheduler'];
const TOOLS = ['buildah', 'mmdebstrap'];

const { file, packages, name } = readArguments();
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const image = name ?? `localhost/lingua-scheduler:${version}`;
/** When the present commit was made: nothing in the image depends on the clock. */
const epoch = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout.trim();
const missing = TOOLS.filter((program) => spawnSync(program, ['--version']).error !== undefined);
if (missing.length > 0) fail(1, `install ${missing.join(' and ')}: packages of Debian`);

const work = mkdtempSync(join(tmpdir(), 'lingua-image-'));
try {
  // Others may not read what mkdtemp makes, and the image keeps these modes.
  const context = join(work, 'context');
  mkdirSync(context);
  prepareApp(join(context, 'app'));
  cpSync(nodeRuntime(NODE_MAJOR), join(context, 'node'), { recursive: true });
  prepareEtc(join(context, 'etc'));
  prepareSystem(join(context, 'system.tar'));
  run('chmod', '-R', 'u+rwX,go=rX', context);
  build(context);
} catch (fault) {
  fail(1, fault instanceof Error ? fault.message : String(fault));
} finally {
  rmSync(work, { recursive: true, force: true });
}

function readArguments() {
  const options = { packages: { type: 'string' }, name: { type: 'string' } };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length !== 1) throw new Error('name one file for the archive');
    return { file: resolve(positionals[0]), ...values };
  } catch (fault) {
    return fail(2, `${fault.message}\nusage: npm run image -- FILE [--packages FOLDER] [--name NAME]`);
  }
}

/** As npm installs it, with the versions of package-lock.json: the packages from their tarballs, the others from node_modules. */
function prepareApp(app) {
  const tarballs = packages ?? join(work, 'packages');
  if (packages === undefined) run(process.execPath, join(root, 'scripts/pack.mjs'), tarballs);
  for (const each of OWN) {
    const folder = join(app, 'node_modules/@lingua', each);
    mkdirSync(folder, { recursive: true });
    const from = join(tarballs, `lingua-${each}-${version}.tgz`);
    run('tar', '--extract', '--file', from, '--directory', folder, '--strip-components=1');
  }
  for (const path of installedPaths()) cpSync(join(root, path), join(app, path), { recursive: true });
  cpSync(join(root, 'LICENSE'), join(app, 'LICENSE'));
}

/** Where package-lock.json puts the dependencies of the packages, and theirs. */
function installedPaths() {
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const found = new Set();
  const add = (from) => {
    for (const dependency of Object.keys(locked[from].dependencies ?? {})) {
      if (dependency.startsWith('@lingua/')) continue;
      let folder = from;
      // The nearest one counts, as for Node.js.
      while (folder !== '' && locked[`${folder}/node_modules/${dependency}`] === undefined)
        folder = folder.includes('/node_modules/')
          ? folder.replace(/\/node_modules\/(?!.*\/node_modules\/).*$/, '')
          : '';
      const path = join(folder, 'node_modules', dependency);
      if (locked[path] === undefined)
        throw new Error(`${from} needs ${dependency}, which package-lock.json lacks`);
      if (found.has(path)) continue;
      found.add(path);
      add(path);
    }
  };
  for (const each of OWN) add(`packages/${each}`);
  const paths = [...found].sort();
  const inner = paths.filter((path) => paths.some((other) => path.startsWith(`${other}/`)));
  // A folder that is inside of another one comes with it.
  return paths.filter((path) => !inner.includes(path));
}

function prepareEtc(etc) {
  mkdirSync(join(etc, 'lingua'), { recursive: true });
  writeFileSync(join(etc, 'passwd'), 'root:x:0:0::/:/sbin/nologin\nlingua:x:10001:10001::/:/sbin/nologin\n');
  writeFileSync(join(etc, 'group'), 'root:x:0:\nlingua:x:10001:\n');
  writeFileSync(join(etc, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
}

/** The libraries of Debian that Node.js is linked with, unpacked and not configured. */
function prepareSystem(archive) {
  run('mmdebstrap', '--quiet', '--variant=extract', '--include=libstdc++6,base-files', SUITE, archive);
}

function build(context) {
  const revision = run('git', 'rev-parse', 'HEAD').trim();
  const store = [`--root=${join(work, 'store')}`, `--runroot=${join(work, 'run')}`, '--storage-driver=vfs'];
  const policy = join(work, 'policy.json');
  writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  const made = [
    ...['--isolation=chroot', '--format=docker', '--pull-never', `--timestamp=${epoch}`],
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`],
    ...[`--signature-policy=${policy}`, '--tag', image, '--file', join(root, 'Containerfile')],
  ];
  run('buildah', ...store, 'bud', '--quiet', ...made, context);
  const archive = join(work, 'image.tar');
  run(
    'buildah',
    ...store,
    'push',
    '--quiet',
    `--signature-policy=${policy}`,
    image,
    `docker-archive:${archive}`,
  );
  writeArchive(archive);
}

/** buildah writes the random name of the container that it builds in into the image; without it two builds have the same bytes. */
function writeArchive(made) {
  const folder = join(work, 'archive');
  mkdirSync(folder);
  run('tar', '--extract', '--file', made, '--directory', folder);
  const read = (path) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
  const [{ Config: configFile, Layers: layers }] = read('manifest.json');
  const { container: _random, ...config } = read(configFile);
  for (const each of [config.config, config.container_config]) delete each?.Hostname;
  const text = JSON.stringify(config);
  const id = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(folder, `${id}.json`), text);
  writeFileSync(
    join(folder, 'manifest.json'),
    JSON.stringify([{ Config: `${id}.json`, RepoTags: [image], Layers: layers }]),
  );
  const tar = join(work, 'lingua.tar');
  const always = [
    '--sort=name',
    `--mtime=@${epoch}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=0644',
  ];
  run('tar', '--create', ...always, '--file', tar, '-C', folder, 'manifest.json', `${id}.json`, ...layers);
  run('gzip', '--no-name', tar);
  cpSync(`${tar}.gz`, file);
  console.log(`${file}: ${image}, image id ${id}`);
}

function run(program, ...args) {
  const options = {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
  };
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')} failed:\n${error?.message ?? ''}${stdout}${stderr}`);
}

function fail(code, problem) {
  console.error(`image: ${problem}`);
  process.exit(code);
}
