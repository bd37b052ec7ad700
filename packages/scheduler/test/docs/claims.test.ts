/** What README and docs/compare.md say has a command that shows it, or a source. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandNames } from '../../src/cli/docs/print-cli.ts';
import { ROOT } from '../architecture/source-files.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
/** Phrases may be broken over lines. */
const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

const [readme, compare, claims] = ['README.md', 'docs/compare.md', 'docs/claims.md'].map(read) as [
  string,
  string,
  string,
];
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

const rows = [...claims.matchAll(/^\| "(.+?)" \| (.+?) \| (.+?) \|$/gm)].map(
  ([, phrase = '', shown = '', last = '']) => ({
    phrase,
    commands: [...shown.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command),
    last,
  }),
);

/** Sentences, and the parts of lists between semicolons. */
const partsOf = (text: string): string[] =>
  onOneLine(text)
    .split(/(?<=[.;:]\)?) (?=\S)/)
    .filter((part) => part.split(' ').length > 3);

const exists = (command: string): boolean => {
  const [program, verb = '', name = ''] = command.split(' ');
  if (program === 'npm') return verb === 'ci' || scripts[verb === 'run' ? name : verb] !== undefined;
  if (verb === 'vitest')
    return command
      .split(' ')
      .slice(3)
      .every((path) => existsSync(join(ROOT, path)));
  return program === 'npx' && verb === 'lingua' && commandNames(read('docs/cli.md')).includes(name);
};

describe('docs/claims.md', () => {
  it('every row quotes the README or the comparison', () => {
    expect(rows.length).toBeGreaterThan(20);
    const texts = onOneLine(readme + compare);
    expect(rows.filter(({ phrase }) => !texts.includes(phrase)).map(({ phrase }) => phrase)).toEqual([]);
  });

  it('every row has existing commands and what they showed last', () => {
    const bad = rows.filter(
      ({ commands, last }) => commands.length === 0 || !commands.every(exists) || last === '',
    );
    expect(bad.map(({ phrase }) => phrase)).toEqual([]);
  });

  it('every part of "What it is" in the README has a row', () => {
    const [, section = ''] = /## What it is\n(.*?)\n## /s.exec(readme) ?? [];
    const parts = partsOf(section.replace(/```.*?```/s, '')).filter(
      (part) => !part.startsWith('**Not yet**'),
    );
    expect(parts.length).toBeGreaterThan(8);
    // Add a row to docs/claims.md that quotes a phrase of it.
    expect(parts.filter((part) => !rows.some(({ phrase }) => part.includes(phrase)))).toEqual([]);
  });
});

describe('docs/compare.md', () => {
  it('every sentence about another system has a source, and every promise a row of claims', () => {
    const bullets = [...compare.matchAll(/^- (.*)$/gm)].map(([, text = '']) => text);
    expect(bullets.length).toBeGreaterThan(15);
    expect(bullets.filter((text) => !/\]\((https:|claims\.md#)/.test(text))).toEqual([]);
    const promises = [...compare.matchAll(/\[([^\]]+)\]\(claims\.md#/g)].map(([, phrase = '']) => phrase);
    expect(promises.filter((phrase) => !rows.some((row) => row.phrase === phrase))).toEqual([]);
  });
});
