// Installs the system programs that the tests use and that are missing, from Debian's packages, and says so.
import { spawnSync } from 'node:child_process';

/** Program → Debian package. */
const TOOLS = new Map([
  ['chromium', 'chromium'],
  ['curl', 'curl'],
  ['redis-server', 'redis-server'],
]);

const isInstalled = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = [...TOOLS].filter(([program]) => !isInstalled(program));

if (missing.length > 0) {
  const packages = missing.map(([, name]) => name);
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  console.log(`installing what the tests need: ${packages.join(', ')}`);
  for (const step of [
    ['apt-get', 'update', '-q'],
    ['apt-get', 'install', '-y', '-q', ...packages],
  ]) {
    const [program, ...args] = [...sudo, ...step];
    const { status } = spawnSync(program, args, { stdio: 'inherit' });
    if (status !== 0) {
      console.error(`could not install ${packages.join(', ')}; install them by hand and run the tests again`);
      process.exit(1);
    }
  }
}
