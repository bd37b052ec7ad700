// Installs the system programs that the tests use and that are missing, from Debian's packages, and says so.
// With --slow also those of the slow tests.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Debian's own, not another one that is first on the path: the packages below belong to it. */
const PYTHON = '/usr/bin/python3';

/** Program, or a file by its path → Debian package. */
const TOOLS = new Map([
  ['/usr/share/apertium/modes/eng-spa.mode', 'apertium-eng-spa'],
  ['/usr/share/apertium/modes/es-pt.mode', 'apertium-es-pt'],
  ['chromium', 'chromium'],
  ['curl', 'curl'],
  ['espeak-ng', 'espeak-ng'],
  ['openssl', 'openssl'],
  ['promtool', 'prometheus'],
  ['redis-server', 'redis-server'],
  ...(process.argv.includes('--slow')
    ? [
        ['/usr/share/pocketsphinx/test/data/goforward.raw', 'pocketsphinx-testdata'],
        ['buildah', 'buildah'],
        ['bwrap', 'bubblewrap'],
        ['caddy', 'caddy'],
        ['haproxy', 'haproxy'],
        ['mmdebstrap', 'mmdebstrap'],
        ['nginx', 'nginx'],
        ['podman', 'podman'],
        ['runc', 'runc'],
        ['setpriv', 'util-linux'],
        ['strace', 'strace'],
        ['systemd-analyze', 'systemd'],
      ]
    : []),
  [PYTHON, 'python3'],
]);

/** Module of Python → Debian package. mypy from another place would not find Debian's modules. */
const MODULES = new Map([
  ['build', 'python3-build'],
  ['mypy', 'mypy'],
  ['setuptools', 'python3-setuptools'],
  ['websockets', 'python3-websockets'],
  ['wheel', 'python3-wheel'],
]);

/** The programs themselves are wanted, without what usually runs beside them. */
const OPTIONS = new Map(
  ['apertium-eng-spa', 'apertium-es-pt', 'buildah', 'espeak-ng', 'podman', 'prometheus'].map((name) => [
    name,
    ['--no-install-recommends'],
  ]),
);

/** What Debian asks whether a service may be started; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

const isInstalled = (program) =>
  program.startsWith('/')
    ? existsSync(program)
    : spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const hasModule = (name) => spawnSync(PYTHON, ['-c', `import ${name}`]).status === 0;
const packages = [
  ...[...TOOLS].filter(([program]) => !isInstalled(program)),
  ...[...MODULES].filter(([name]) => !hasModule(name)),
].map(([, name]) => name);

if (packages.length > 0) {
  console.log(`installing what the tests need: ${packages.join(', ')}`);
  const isInstalledNow = withoutStartingDaemons(
    () =>
      asRoot('apt-get', 'update', '-q') &&
      packages.every((name) => asRoot('apt-get', 'install', '-y', '-q', ...(OPTIONS.get(name) ?? []), name)),
  );
  if (!isInstalledNow) {
    console.error(`could not install ${packages.join(', ')}; install them by hand and run the tests again`);
    process.exit(1);
  }
}

function asRoot(...command) {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [program, ...args] = [...sudo, ...command];
  return spawnSync(program, args, { stdio: 'inherit' }).status === 0;
}

/** Some packages come with a server that Debian would start; the tests start what they need themselves. */
function withoutStartingDaemons(install) {
  if (existsSync(POLICY)) return install();
  const isDenied = asRoot('sh', '-c', `printf '#!/bin/sh\\nexit 101\\n' > ${POLICY} && chmod 755 ${POLICY}`);
  try {
    return install();
  } finally {
    if (isDenied) asRoot('rm', '-f', POLICY);
  }
}
