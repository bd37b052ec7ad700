// Installs the system programs that the tests use and that are missing, from Debian's packages, and says so.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Program → Debian package. */
const TOOLS = new Map([
  ['chromium', 'chromium'],
  ['curl', 'curl'],
  ['openssl', 'openssl'],
  ['promtool', 'prometheus'],
  ['redis-server', 'redis-server'],
]);

/** Only promtool is wanted of it, and none of the server's company. */
const OPTIONS = new Map([['prometheus', ['--no-install-recommends']]]);

/** What Debian asks whether a service may be started; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

const isInstalled = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = [...TOOLS].filter(([program]) => !isInstalled(program));

if (missing.length > 0) {
  const packages = missing.map(([, name]) => name);
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
