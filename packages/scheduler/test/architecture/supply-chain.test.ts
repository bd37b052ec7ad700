/** What a production installation downloads: counted, verified by the lockfile, licensed, and without scripts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './source-files.ts';

interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

/** Licences under which the scheduler may be shipped with a dependency. */
const ALLOWED_LICENCES = [
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  '0BSD',
];
/** Every package more is a decision: raise it in the commit that adds one, and say why in docs/adr/0022-dependencies.md. */
const MOST_PACKAGES = 105;

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const downloaded = Object.entries(packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
  .map(([path, entry]) => ({ name: path.replace(/^.*node_modules\//, ''), ...entry }));
const shipped = downloaded.filter(({ dev, devOptional }) => dev !== true && devOptional !== true);
const named = (entries: readonly { readonly name: string; readonly version: string }[]): string[] =>
  [...new Set(entries.map(({ name, version }) => `${name}@${version}`))].sort();

/** The repository's own packages; the lock file has them without a node_modules. */
const own = Object.keys(packages).filter((path) => !path.includes('node_modules'));

it.each(own)('the package in ./%s is under Apache-2.0', (folder) => {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Entry;
  expect([manifest.license, packages[folder]?.license]).toEqual(['Apache-2.0', 'Apache-2.0']);
});

it('THIRD-PARTY-NOTICES.txt has the licence texts of the installed production packages', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/notices.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

describe('dependencies', () => {
  it('have an integrity in the lockfile, development ones included', () => {
    expect(downloaded.length).toBeGreaterThan(shipped.length);
    expect(named(downloaded.filter(({ integrity }) => !/^sha512-/.test(integrity ?? '')))).toEqual([]);
  });

  it(`in production are at most ${MOST_PACKAGES}, under allowed licences`, () => {
    expect(shipped.length).toBeLessThanOrEqual(MOST_PACKAGES);
    expect(named(shipped.filter(({ license = '' }) => !ALLOWED_LICENCES.includes(license)))).toEqual([]);
  });

  it('in production need no install script', () => {
    expect(named(shipped.filter(({ hasInstallScript }) => hasInstallScript === true))).toEqual([]);
  });
});

it('the software bill of materials has every production dependency, with hash and licence', () => {
  const printed = execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.mjs')], {
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bom = JSON.parse(printed.toString()) as {
    readonly bomFormat: string;
    readonly components: readonly {
      readonly name: string;
      readonly version: string;
      readonly hashes?: readonly unknown[];
      readonly licenses?: readonly unknown[];
    }[];
  };
  expect(bom.bomFormat).toBe('CycloneDX');
  const foreign = bom.components.filter(
    ({ name }) => !['protocol', 'sdk', 'scheduler', 'console', 'speech-node'].includes(name),
  );
  expect(named(foreign)).toEqual(named(shipped));
  expect(named(foreign.filter(({ hashes, licenses }) => !hashes?.length || !licenses?.length))).toEqual([]);
});
