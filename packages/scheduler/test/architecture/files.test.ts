/** Rules for files: small, introduced by their first line, named after their purpose. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, ROOT, resolveImport, sources, written } from './source-files.ts';

const MOST_LINES = 400;
const MOST_FILES = 20;
/** Vocabulary and ports are found by name: their folders may be long lists. */
const LISTS = ['packages/scheduler/src/domain', 'packages/scheduler/src/ports'];
/** A file with fewer lines of code than this belongs into the only file that imports it. */
const FEWEST_LINES = 12;
/** Entry points of packages, and the folder reserved for rooms. */
const ALONE = [
  'packages/protocol/src/print-json-schema.ts',
  'packages/scheduler/src/index.ts',
  'packages/scheduler/src/main.ts',
  'packages/speech-node/src/main.ts',
  'packages/scheduler/src/session/rooms/unsupported.ts',
];
/** Names without a meaning, whose folders or files would collect unrelated code. */
const GENERIC = new Set(['utils', 'util', 'helpers', 'helper', 'types', 'lib', 'common', 'misc']);

const linesOf = (text: string): number => text.replace(/\n$/, '').split('\n').length;

const codeLinesOf = (text: string): number =>
  text
    .replaceAll(/\/\*.*?\*\//gs, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;

/** How many files that are not tests import each source file; compiled files count as their sources. */
function importerCounts(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const file of written.filter(({ path }) => path.includes('/src/')))
    for (const module of importsOf(file.text).filter((name) => name.startsWith('.'))) {
      const target = resolveImport(file, module).replace(/\/dist\/(.*)\.js$/, '/src/$1.ts');
      counts.set(target, (counts.get(target) ?? 0) + 1);
    }
  return counts;
}

describe('files', () => {
  it(`have at most ${MOST_LINES} lines, tests included`, () => {
    const long = written
      .map(({ path, text }) => ({ path, lines: linesOf(text) }))
      .filter(({ lines }) => lines > MOST_LINES);
    expect(long).toEqual([]);
  });

  it(`are in folders of at most ${MOST_FILES}`, () => {
    const counts = new Map<string, number>();
    for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([folder, count]) => count > MOST_FILES && !LISTS.includes(folder));
    expect(full).toEqual([]);
  });

  it(`with fewer than ${FEWEST_LINES} lines of code are used by several others, or wrap a script`, () => {
    const importers = importerCounts();
    const crumbs = sources
      .filter(({ text }) => codeLinesOf(text) < FEWEST_LINES)
      .map(({ path }) => path)
      .filter((path) => !ALONE.includes(path) && !LISTS.includes(dirname(path)))
      .filter((path) => !existsSync(join(ROOT, path.replace(/\.ts$/, '.lua'))))
      .filter((path) => (importers.get(path) ?? 0) < 2);
    expect(crumbs).toEqual([]);
  });

  it('begin with a comment that describes them', () => {
    const silent = sources.filter(({ text }) => !text.startsWith('/**')).map(({ path }) => path);
    expect(silent).toEqual([]);
  });

  it('have no generic names such as utils', () => {
    const generic = written
      .filter(({ path }) => path.split('/').some((part) => GENERIC.has(part.split('.')[0] ?? '')))
      .map(({ path }) => path);
    expect(generic).toEqual([]);
  });

  it('are named in kebab-case', () => {
    const odd = written
      .filter(
        ({ path }) => !/^[a-z0-9]+(-[a-z0-9]+)*((\.slow)?\.test|\.d|\.config)?\.tsx?$/.test(basename(path)),
      )
      .map(({ path }) => path);
    expect(odd).toEqual([]);
  });
});
