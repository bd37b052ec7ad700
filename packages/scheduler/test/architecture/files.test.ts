/** Rules for files: small, introduced by their first line, named after their purpose. */
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sources, written } from './source-files.ts';

const MOST_LINES = 400;
const MOST_FILES = 20;
/** Vocabulary and ports are found by name: their folders may be long lists. */
const LISTS = ['packages/scheduler/src/domain', 'packages/scheduler/src/ports'];
/** To be split; remove a folder from here when it has at most MOST_FILES files. */
const TO_SPLIT = ['packages/scheduler/src/app'];
/** Names without a meaning, whose folders or files would collect unrelated code. */
const GENERIC = new Set(['utils', 'util', 'helpers', 'helper', 'types', 'lib', 'common', 'misc']);

const linesOf = (text: string): number => text.replace(/\n$/, '').split('\n').length;

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
    const exempt = [...LISTS, ...TO_SPLIT];
    const full = [...counts].filter(([folder, count]) => count > MOST_FILES && !exempt.includes(folder));
    expect(full).toEqual([]);
  });

  it('begin with a comment that describes them', () => {
    const silent = sources.filter(({ text }) => !text.startsWith('/**')).map(({ path }) => path);
    expect(silent).toEqual([]);
  });

  it('have no generic names such as utils', () => {
    const generic = written
      .filter(({ path }) =>
        path.split('/').some((part) => GENERIC.has(basename(part, '.ts').split('.')[0] ?? '')),
      )
      .map(({ path }) => path);
    expect(generic).toEqual([]);
  });

  it('are named in kebab-case', () => {
    const odd = written
      .filter(({ path }) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.ts$/.test(basename(path)))
      .map(({ path }) => path);
    expect(odd).toEqual([]);
  });
});
