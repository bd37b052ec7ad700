/** The tests of the architecture are only as good as their reading of imports. */
import { describe, expect, it } from 'vitest';
import { importsOf, packageOf, sources } from './source-files.ts';

describe('reading imports', () => {
  it('finds every form, over several lines too, and nothing in texts', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type { B } from '../b.ts';",
      'import {',
      '  type C,',
      '  c,',
      "} from 'c';",
      "import './d.ts';",
      "export { e } from './e.ts';",
      "export * from './f.ts';",
      "const g = await import('./g.ts');",
      "let h: import('./h.ts').H;",
      "const text = 'from nowhere';",
      "const from = 'a word';",
      "// as in: import x from 'x' in a comment",
    ].join('\n');
    expect(importsOf(text).sort()).toEqual(
      ['../b.ts', './a.ts', './d.ts', './e.ts', './f.ts', './g.ts', './h.ts', 'c'].sort(),
    );
  });

  it('takes scoped packages and subpaths for what they are', () => {
    expect(packageOf('@lingua/sdk/node')).toBe('@lingua/sdk');
    expect(packageOf('typebox/system')).toBe('typebox');
    expect(packageOf('node:fs')).toBeUndefined();
    expect(packageOf('./here.ts')).toBeUndefined();
  });

  it('sees the sources of all packages', () => {
    const found = new Set(sources.map(({ path }) => path.split('/')[1]));
    expect([...found]).toEqual(expect.arrayContaining(['protocol', 'scheduler', 'sdk', 'simulation']));
  });
});
