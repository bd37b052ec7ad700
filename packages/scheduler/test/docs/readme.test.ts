/** The README is short, and its commands exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandNames } from '../../src/cli/docs/print-cli.ts';
import { ROOT } from '../architecture/source-files.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Commands of npm itself that need no script. */
const BUILT_IN = new Set(['ci', 'install']);

describe.each(['README.md', 'README.zh-CN.md'])('%s', (path) => {
  const text = read(path);

  it('has at most 150 lines', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('begins with the two commands', () => {
    const [, first = ''] = /^```sh\n(.*?)^```/ms.exec(text) ?? [];
    expect(first).toMatch(/^npm ci && npm start\b/m);
    expect(first).toMatch(/^npm ci && npm test\b/m);
  });

  it('names only npm scripts that exist', () => {
    const named = [...text.matchAll(/\bnpm (?:run )?([a-z][\w:-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !BUILT_IN.has(name) && scripts[name] === undefined)).toEqual([]);
  });

  it('names only commands of lingua that exist', () => {
    const known = commandNames(read('docs/cli.md'));
    const named = [...text.matchAll(/\b(?:npx )?lingua ([a-z]+)\b/g)].map(([, name = '']) => name);
    expect(named).toContain('serve');
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});
