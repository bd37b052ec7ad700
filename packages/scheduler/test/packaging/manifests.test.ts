/** What the packages that users install say about themselves. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';

interface Manifest {
  readonly version: string;
  readonly private?: boolean;
  readonly type: string;
  readonly engines?: { readonly node: string };
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly publishConfig?: { readonly access: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
const root = manifestOf('.');

describe.each(['protocol', 'sdk', 'scheduler'])('@lingua/%s', (name) => {
  const manifest = manifestOf(`packages/${name}`);

  it('the package can be published, for the same Node.js as the repository', () => {
    expect(manifest).toMatchObject({
      type: 'module',
      publishConfig: { access: 'public' },
      engines: root.engines,
    });
    expect(manifest.private).toBeUndefined();
    expect(existsSync(join(ROOT, 'packages', name, 'README.md'))).toBe(true);
  });

  it('each export has types first, and a source for the tests of this repository', () => {
    for (const entry of Object.values(manifest.exports)) {
      if (typeof entry === 'string') continue;
      expect(Object.keys(entry)).toEqual(['source', 'types', 'default']);
      expect(existsSync(join(ROOT, 'packages', name, entry.source ?? ''))).toBe(true);
    }
  });

  it('packages of one release need each other exactly', () => {
    const own = Object.entries(manifest.dependencies).filter(([each]) => each.startsWith('@lingua/'));
    expect(own.filter(([, range]) => range !== root.version)).toEqual([]);
    expect(manifest.version).toBe(root.version);
  });
});

describe('the version', () => {
  it('is the same in every manifest, SDK and printed document', () => {
    const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    const named = {
      sdk: /lingua-sdk\/([\d.]+)'/.exec(read('packages/sdk/src/client/session-options.ts'))?.[1],
      python: /^__version__ = "(.*)"$/m.exec(read('packages/python/src/lingua_node/__init__.py'))?.[1],
      wheel: /^version = "(.*)"$/m.exec(read('packages/python/pyproject.toml'))?.[1],
      speech: manifestOf('packages/speech-node').version,
      console: manifestOf('packages/console').version,
      compose: /lingua-scheduler:([\d.]+)\}/.exec(read('ops/compose/compose.yaml'))?.[1],
      install: /lingua-scheduler:([\d.]+)$/m.exec(read('docs/install.md'))?.[1],
      ...Object.fromEntries(
        ['base', 'overlays/trial', 'overlays/production'].map((folder) => [
          folder,
          /newTag: ([\d.]+) /.exec(read(`ops/kubernetes/${folder}/kustomization.yaml`))?.[1],
        ]),
      ),
    };
    expect([...new Set(Object.values(named))]).toEqual([root.version]);
  });
});

describe('on systems without a shell such as sh', () => {
  it('the command starts Node.js', () => {
    const [file = ''] = Object.values(manifestOf('packages/scheduler').bin ?? {});
    const text = readFileSync(join(ROOT, 'packages/scheduler', file), 'utf8');
    expect(text).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('no npm script needs one', () => {
    const words = Object.values(root.scripts ?? {}).filter((line) =>
      /\bexec |\bsh |[$;|'`]|^\w+=/.test(line),
    );
    expect(words).toEqual([]);
  });
});
