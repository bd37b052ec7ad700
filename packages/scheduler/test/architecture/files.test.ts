/** House rules of files: small, introduced by their first line, named for what they do. */
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sources, written } from './source-files.ts';

const MOST_LINES = 400;
const MOST_FILES = 26;
/** Vocabulary and ports are looked up by name: their folders may be long lists. */
const LISTS = ['packages/scheduler/src/domain', 'packages/scheduler/src/ports'];
/** Drawers: a name that says nothing collects everything. */
const DRAWERS = new Set(['utils', 'util', 'helpers', 'helper', 'types', 'lib', 'common', 'misc']);

const linesOf = (text: string): number => text.replace(/\n$/, '').split('\n').length;

describe('files', () => {
  it(`have at most ${MOST_LINES} lines, tests included`, () => {
    const long = written
      .map(({ path, text }) => ({ path, lines: linesOf(text) }))
      .filter(({ lines }) => lines > MOST_LINES);
    expect(long).toEqual([]);
  });

  it(`lie in folders of at most ${MOST_FILES}`, () => {
    const counts = new Map<string, number>();
    for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([folder, count]) => count > MOST_FILES && !LISTS.includes(folder));
    expect(full).toEqual([]);
  });

  it('say in line 1 what they are', () => {
    const silent = sources.filter(({ text }) => !text.startsWith('/**')).map(({ path }) => path);
    expect(silent).toEqual([]);
  });

  it('are no drawers, and lie in none', () => {
    const drawers = written
      .filter(({ path }) =>
        path.split('/').some((part) => DRAWERS.has(basename(part, '.ts').split('.')[0] ?? '')),
      )
      .map(({ path }) => path);
    expect(drawers).toEqual([]);
  });

  it('are named in kebab-case', () => {
    const odd = written
      .filter(({ path }) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.ts$/.test(basename(path)))
      .map(({ path }) => path);
    expect(odd).toEqual([]);
  });
});
