/** A setting that no code reads has no effect. Names that several groups have, or that are words of the code, are found anywhere. */
import { expect, it } from 'vitest';
import { filesUnder } from './source-files.ts';

/** Has one value only, and says so. */
const WITHOUT_CHOICE = new Set(['health_filter']);

const sources = filesUnder('packages/scheduler/src', '.ts');
/** Declares, compares or prints them. */
const isTable = ({ path }: { readonly path: string }): boolean =>
  /\/src\/config\/(settings|nesting|print)/.test(path);
const declared = sources
  .filter(({ path }) => path.includes('/src/config/settings/'))
  .flatMap(({ text }) => [...text.matchAll(/^\s+([a-z][a-z0-9_]*): (?!ignored|group)[a-z]\w*\(/gm)])
  .map(([, name = '']) => name);
const readers = sources
  .filter((file) => !isTable(file))
  .map(({ text }) => text)
  .join('\n');

it('every setting is read by the code, or says that it has no effect', () => {
  const unread = new Set(declared.filter((name) => !new RegExp(`\\b${name}\\b`).test(readers)));
  expect(declared.length).toBeGreaterThan(100);
  expect([...unread].filter((name) => !WITHOUT_CHOICE.has(name))).toEqual([]);
});
