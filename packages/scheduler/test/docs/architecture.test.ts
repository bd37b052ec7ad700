/** ARCHITECTURE.md is short, defines its terms, and names only folders and files that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';

const SRC = 'packages/scheduler/src';
const MAX_BYTES = 12 * 1024;
const MAX_TERMS = 25;
/** Folders from which a path in the document may start. */
const BASES = ['', SRC, 'packages/scheduler'];

const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

const section = (title: string): string => {
  const [, body = ''] = new RegExp(`^## ${title}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(text) ?? [];
  return body;
};

/** First cells of the rows of a section's table, without its head. */
const firstCells = (title: string): string[] =>
  [...section(title).matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell).slice(1);

/** Folders of the tree, as paths under `src`. */
function foldersOfTree(): string[] {
  const [, block = ''] = /^```\n(.*?)^```/ms.exec(section('Folders of the scheduler')) ?? [];
  let parent = '';
  return block
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, indent = '', name = ''] = /^( *)([a-z/-]+)\/ /.exec(line) ?? [];
      if (indent === '') parent = name;
      return indent === '' ? name : `${parent}/${name}`;
    });
}

const isFolder = (path: string): boolean => existsSync(join(ROOT, SRC, path)) && !path.includes('.');

const subfolders = (path: string): string[] =>
  readdirSync(join(ROOT, SRC, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (path === '' ? name : `${path}/${name}`));

describe('ARCHITECTURE.md', () => {
  it(`ARCHITECTURE.md has at most ${MAX_BYTES} bytes`, () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
  });

  it(`the glossary has at most ${MAX_TERMS} terms, each defined once`, () => {
    const terms = firstCells('Glossary');
    expect(terms.length).toBeGreaterThan(10);
    expect(terms.length).toBeLessThanOrEqual(MAX_TERMS);
    expect(new Set(terms).size).toBe(terms.length);
  });

  it.each(['A local job', 'A remote job', 'Death of a driver', 'Failover of Redis'])(
    'ARCHITECTURE.md shows a sequence diagram of "%s"',
    (title) => {
      expect(section(title)).toContain('```mermaid\nsequenceDiagram\n');
    },
  );

  it('every folder in the tree exists', () => {
    const named = foldersOfTree();
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !isFolder(path))).toEqual([]);
  });

  it('the tree names every folder of the scheduler, and every folder of the four domains', () => {
    const expected = [
      ...subfolders(''),
      ...['management', 'runtime', 'session', 'cluster'].flatMap((domain) => subfolders(domain)),
    ];
    const named = new Set(foldersOfTree());
    expect(expected.filter((path) => !named.has(path))).toEqual([]);
  });

  it('every file and folder in the text exists', () => {
    const prose = text.replaceAll(/^```.*?^```$/gms, '');
    const named = [...prose.matchAll(/`([\w.-]+(?:\/[\w.-]*)+)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !BASES.some((base) => existsSync(join(ROOT, base, path))))).toEqual([]);
  });
});
