/** Prometheus' own tool, which judges rules and expressions. Missing, it fails the test: `npm test` installs it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Judged {
  readonly isFine: boolean;
  readonly said: string;
}

export function promtool(...args: readonly string[]): Judged {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
  if (error !== undefined)
    throw new Error('promtool cannot be run: node scripts/install-test-tools.mjs installs it', {
      cause: error,
    });
  return { isFine: status === 0, said: `${stdout}${stderr}` };
}

/** With these files in a folder of its own, which is gone afterwards. */
export function withFiles<T>(
  files: Readonly<Record<string, string>>,
  run: (path: (name: string) => string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-ops-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return run((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether all of these are PromQL; JSON is YAML. */
export function judgeExpressions(expressions: readonly string[]): Judged {
  const rules = expressions.map((expr, at) => ({ record: `expression:${at}`, expr }));
  const file = JSON.stringify({ groups: [{ name: 'expressions', rules }] });
  return withFiles({ 'rules.yml': file }, (path) => promtool('check', 'rules', path('rules.yml')));
}
