/** Log lines that the pages for operators quote exist in the source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filesUnder, ROOT } from '../architecture/source-files.ts';

const source = filesUnder('packages/scheduler/src', '.ts')
  .map(({ text }) => text)
  .join('\n');

/** Sentences in quotes: four words or more. */
const QUOTED = /"([a-z][\w;,’' -]*(?: [\w;,’'-]+){3,})"/g;

/** Commands and settings are in backquotes or blocks. */
const proseOf = (path: string): string =>
  readFileSync(join(ROOT, path), 'utf8')
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, '');

it.each(['docs/operations.md', 'docs/runbook.md'])('%s quotes only log lines of the source', (path) => {
  const quoted = [...proseOf(path).matchAll(QUOTED)].map(([, line = '']) => line);
  expect(quoted.length).toBeGreaterThan(1);
  expect(quoted.filter((line) => !source.includes(line))).toEqual([]);
});
