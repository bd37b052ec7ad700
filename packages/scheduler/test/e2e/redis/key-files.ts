/** Files of secret keys, for the settings of instances under test. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A line of a key file. */
export const newKey = (id: string): string => `${id} ${randomBytes(32).toString('base64')}`;

/** Its path. It is removed with the test. */
export function writeKeyFile(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys');
  writeFileSync(path, lines.join('\n'), { mode: 0o600 });
  return path;
}
