/** `npm run release` in a copy of this repository: changelog, versions, tag and files, and the same bytes when it runs again. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { run } from './support/packed.ts';

const SLOW_MS = 600_000;
const VERSION = '7.8.9';
let copy: string;
const env = {
  ...process.env,
  ...{
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  },
};
const git = async (...args: readonly string[]): Promise<string> =>
  (await run('git', args, { cwd: copy, env })).stdout.trim();
const release = (...args: readonly string[]) =>
  run(process.execPath, ['scripts/release.mjs', ...args], { cwd: copy, env });
const complaint = (...args: readonly string[]): Promise<string> =>
  release(...args).then(
    () => 'no complaint',
    ({ stderr }: { stderr: string }) => stderr,
  );
const read = (path: string): Promise<string> => readFile(join(copy, path), 'utf8');

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'lingua-release-'));
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await cp(join(ROOT, path), join(copy, path)).catch(() => undefined);
  }
  await writeFile(join(copy, 'changelog/fixed-a-crash.md'), 'A crash at noon.\n');
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  // The link is no folder, which is what .gitignore names.
  await writeFile(join(copy, '.git-exclude'), 'node_modules\n.git-exclude\n');
  await git('init', '--quiet');
  await git('config', 'core.excludesFile', join(copy, '.git-exclude'));
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'All of it', '--date', '2026-01-02T03:04:05Z');
}, SLOW_MS);
afterAll(() => rm(copy, { recursive: true, force: true }));

it('a wrong version and changes that are not committed are refused before anything is written', async () => {
  expect(await complaint('seven')).toContain('usage:');
  expect(await complaint('0.0.1')).toContain('0.0.1 is older than');
  await writeFile(join(copy, 'new-file'), '');
  expect(await complaint(VERSION)).toContain('not committed');
  await rm(join(copy, 'new-file'));
  expect(await git('status', '--porcelain')).toBe('');
});

it(
  'a release has its changelog, versions, tag and files, and a second run makes the same bytes',
  async () => {
    const [first, second] = [join(copy, 'release/first'), join(copy, 'release/second')];
    await release(VERSION, '--out', first);
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('log', '-1', '--format=%s')).toBe(`Release ${VERSION}`);
    expect(await git('describe', '--exact-match')).toBe(`v${VERSION}`);
    expect(await read('CHANGELOG.md')).toMatch(
      new RegExp(`^## \\[Unreleased\\]\n\n## \\[${VERSION}\\] - \\d{4}`, 'm'),
    );
    expect(await read('CHANGELOG.md')).toContain('- A crash at noon.');
    expect(await readdir(join(copy, 'changelog'))).toEqual(['README.md']);
    const scheduler = JSON.parse(await read('packages/scheduler/package.json')) as Record<string, unknown>;
    expect(scheduler).toMatchObject({ version: VERSION, dependencies: { '@lingua/sdk': VERSION } });
    expect(await read('packages/sdk/src/client/session-options.ts')).toContain(`lingua-sdk/${VERSION}`);
    expect(await read('ops/kubernetes/base/kustomization.yaml')).toContain(`newTag: ${VERSION}`);
    // The lock file still fits the manifests: npm would refuse it otherwise.
    await run('npm', ['ls', '--package-lock-only', '--workspaces'], { cwd: copy });

    expect((await readdir(first)).sort()).toEqual([
      'SHA256SUMS',
      ...['protocol', 'scheduler', 'sdk'].map((name) => `lingua-${name}-${VERSION}.tgz`).slice(0, 1),
      `lingua-scheduler-${VERSION}-image.tar.gz`,
      `lingua-scheduler-${VERSION}.cyclonedx.json`,
      `lingua-scheduler-${VERSION}.spdx.json`,
      `lingua-scheduler-${VERSION}.tgz`,
      `lingua-sdk-${VERSION}.tgz`,
      `lingua_node-${VERSION}-py3-none-any.whl`,
    ]);
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: first });
    const spdx = JSON.parse(await readFile(join(first, `lingua-scheduler-${VERSION}.spdx.json`), 'utf8')) as {
      readonly spdxVersion: string;
      readonly packages: readonly { readonly name: string; readonly versionInfo: string }[];
    };
    expect(spdx.spdxVersion).toBe('SPDX-2.3');
    expect(spdx.packages).toContainEqual(
      expect.objectContaining({ name: 'lingua-scheduler', versionInfo: VERSION }),
    );
    expect(spdx.packages.filter(({ name }) => name === 'vitest')).toEqual([]);

    await release(VERSION, '--out', second);
    expect(await readFile(join(second, 'SHA256SUMS'), 'utf8')).toBe(
      await readFile(join(first, 'SHA256SUMS'), 'utf8'),
    );
    await git('commit', '--quiet', '--allow-empty', '--message', 'Later work');
    expect(await complaint(VERSION)).toContain(`the tag v${VERSION} exists`);
  },
  SLOW_MS,
);
