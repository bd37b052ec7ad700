/** Links and paths in the documents exist. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { anchorsOf, linksOf, markdownFiles, pathsOf } from './markdown-files.ts';

const isElsewhere = (target: string): boolean => /^[a-z]+:/.test(target);

/** Folders from which a path in a document may start. */
const BASES = ['', 'packages/scheduler', 'packages/scheduler/src', 'packages/scheduler/test'];

describe('documents', () => {
  it('there are Markdown documents', () => {
    const names = markdownFiles.map(({ path }) => path);
    for (const name of [
      'README.md',
      'README.zh-CN.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'docs/adr/README.md',
    ]) {
      expect(names).toContain(name);
    }
  });

  it('documents link to existing files', () => {
    const dead = markdownFiles.flatMap(({ path, text }) =>
      linksOf(text)
        .filter((target) => !isElsewhere(target) && !target.startsWith('#'))
        .map((target) => target.split('#')[0] ?? '')
        .filter((target) => !existsSync(join(ROOT, dirname(path), target)))
        .map((target) => `${path} → ${target}`),
    );
    expect(dead).toEqual([]);
  });

  it('documents link to existing headings', () => {
    const dead = markdownFiles.flatMap(({ path, text }) =>
      linksOf(text)
        .map((target) => target.split('#'))
        .filter(([file = '', anchor]) => !isElsewhere(file) && file.endsWith('.md') && anchor !== undefined)
        .filter(([file = '', anchor = '']) => {
          const target = join(ROOT, dirname(path), file);
          return existsSync(target) && !anchorsOf(readFileSync(target, 'utf8')).has(anchor);
        })
        .map((target) => `${path} → ${target.join('#')}`),
    );
    expect(dead).toEqual([]);
  });

  it('documents name existing files', () => {
    const lost = markdownFiles.flatMap(({ path, text }) =>
      pathsOf(text)
        .filter((named) => !BASES.some((base) => existsSync(join(ROOT, base, named))))
        .map((named) => `${path} names ${named}`),
    );
    expect(lost).toEqual([]);
  });

  it('the index lists every decision record', () => {
    const index = markdownFiles.find(({ path }) => path === 'docs/adr/README.md');
    const listed = new Set(linksOf(index?.text ?? ''));
    const decisions = markdownFiles
      .map(({ path }) => path)
      .filter((path) => /^docs\/adr\/\d{4}-/.test(path))
      .map((path) => path.slice('docs/adr/'.length));
    expect(decisions.filter((name) => !listed.has(name))).toEqual([]);
    expect(statSync(join(ROOT, 'docs/adr')).isDirectory()).toBe(true);
  });
});
