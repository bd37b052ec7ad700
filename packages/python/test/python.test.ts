/** The Python SDK: its own tests, and the versions of Python that can read it. */
import { expect, it } from 'vitest';
import { python } from './debian-python.ts';

it('its own tests pass', async () => {
  const { code, output } = await python(['-m', 'unittest', 'discover', '-s', 'test', '-t', 'test']);
  expect(code, output).toBe(0);
  expect(Number(/Ran (\d+) tests/.exec(output)?.[1])).toBeGreaterThan(30);
});

it('every file is Python 3.9', async () => {
  const parse = `
import ast, pathlib, sys
files = sorted(pathlib.Path('src').rglob('*.py')) + sorted(pathlib.Path('example').rglob('*.py'))
for file in files:
    ast.parse(file.read_text('utf-8'), str(file), feature_version=(3, 9))
print(len(files))`;
  const { code, output } = await python(['-c', parse]);
  expect(code, output).toBe(0);
  expect(Number(output)).toBeGreaterThan(20);
});
