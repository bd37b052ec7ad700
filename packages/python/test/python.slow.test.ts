/** The types of the Python SDK, and its packages. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../scheduler/src/cli/version.ts';
import { PACKAGE, python, pythonEnv } from './debian-python.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-python-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('mypy --strict finds nothing, for the oldest supported Python', async () => {
  const { code, output } = await python(['-m', 'mypy', '--cache-dir', temporaryFolder()]);
  expect(code, output).toBe(0);
  expect(output).toContain('no issues found');
});

it('sdist and wheel are built offline, and the wheel works alone', async () => {
  const folder = temporaryFolder();
  const copy = join(folder, 'package');
  // setuptools writes next to the sources.
  cpSync(PACKAGE, copy, { recursive: true, filter: (path) => !path.endsWith('__pycache__') });
  const built = await python(['-m', 'build', '--no-isolation', '--outdir', folder], { cwd: copy });
  expect(built.code, built.output).toBe(0);
  const files = readdirSync(folder).filter((name) => name.startsWith('lingua'));
  expect(files.sort()).toEqual([`lingua-node-${VERSION}.tar.gz`, `lingua_node-${VERSION}-py3-none-any.whl`]);
  const wheel = join(folder, `lingua_node-${VERSION}-py3-none-any.whl`);
  const list = `
import zipfile, sys
from lingua_node.protocol import schemas
print(*zipfile.ZipFile(sys.argv[1]).namelist(), *schemas())`;
  const used = await python(['-c', list, wheel], { cwd: folder, env: pythonEnv(wheel) });
  expect(used.code, used.output).toBe(0);
  expect(used.output).toContain('lingua_node/py.typed');
  expect(used.output).toContain('lingua_node/connection/link.py');
  expect(used.output).toContain('scheduler_to_node/job_assign');
  expect(used.output).not.toContain('test');
});
