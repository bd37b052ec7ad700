/** The folders of the scheduler are its architecture: who may import whom. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, importsOf, resolveImport, type SourceFile } from './source-files.ts';

const SRC = 'packages/scheduler/src';
const files = filesUnder(SRC, '.ts');

const CORE = ['domain', 'ports'];

/** What each folder may import besides itself. Domains do not import one another: they meet in app/create-core.ts. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ['domain'],
  management: CORE,
  runtime: CORE,
  session: CORE,
  cluster: CORE,
  webhooks: CORE,
  adapters: CORE,
  transport: [...CORE, 'management', 'runtime', 'session', 'cluster', 'config'],
  config: ['domain'],
  plan: [...CORE, 'runtime', 'config', 'adapters', 'app'],
};

/** The composition root and what starts it: they connect everything, and only they import `app/`, apart from its settings. */
const ROOT = ['app', 'cli', 'main.ts', 'index.ts'];

const inside = (path: string): string => posix.relative(SRC, path);
const folderOf = (path: string): string => inside(path).split('/')[0] ?? '';

/** The part of the shared job store that does not depend on Redis; the simulated store uses it, too. */
const OF_ANY_STORE = 'adapters/shared-jobs';

/** Each adapter stands alone: one of Redis is no extension of one of memory. */
const unitOf = (path: string): string =>
  folderOf(path) === 'adapters' ? inside(path).split('/').slice(0, 2).join('/') : folderOf(path);

function mayImport(from: string, to: string): boolean {
  const folder = folderOf(from);
  if (ROOT.includes(folder)) return true;
  // `lingua plan` runs the engine in one process, on virtual time: it needs no Redis.
  if (unitOf(to) === 'adapters/redis' && folder === 'plan') return false;
  if (folderOf(to) === 'app' && !inside(to).startsWith('app/settings/')) return false;
  if (unitOf(from) === 'adapters/redis' && unitOf(to) === OF_ANY_STORE) return true;
  return unitOf(from) === unitOf(to) || (MAY_IMPORT[folder] ?? []).includes(folderOf(to));
}

const SIMULATION = 'packages/simulation/src';

/** What a file of the simulation imports, with compiled files of the scheduler named by their sources. */
const importsOfSimulation = (file: SourceFile): string[] =>
  importsOf(file.text)
    .filter((module) => module.startsWith('.'))
    .map((module) =>
      resolveImport(file, module).replace(/^packages\/scheduler\/dist\/(.*)\.js$/, `${SRC}/$1.ts`),
    );

describe('import directions', () => {
  it('have a rule for every folder and every file at the top', () => {
    const known = new Set([...Object.keys(MAY_IMPORT), ...ROOT]);
    expect([...new Set(files.map(({ path }) => folderOf(path)))].filter((name) => !known.has(name))).toEqual(
      [],
    );
  });

  it.each(Object.entries(MAY_IMPORT))('hold in %s, which may import %j', (folder) => {
    const broken = files
      .filter(({ path }) => folderOf(path) === folder)
      .flatMap((file) =>
        importsOf(file.text)
          .filter((module) => module.startsWith('.'))
          .map((module) => resolveImport(file, module))
          .filter((target) => !mayImport(file.path, target))
          .map((target) => `${inside(file.path)} imports ${inside(target)}`),
      );
    expect(broken).toEqual([]);
  });

  it('lead to files that exist, inside the package', () => {
    const paths = new Set(files.map(({ path }) => path));
    const lost = files.flatMap((file) =>
      importsOf(file.text)
        .filter((module) => module.startsWith('.'))
        .map((module) => resolveImport(file, module))
        .filter((target) => !paths.has(target))
        .map((target) => `${inside(file.path)} imports ${target}`),
    );
    expect(lost).toEqual([]);
  });

  it('lead from the simulation to its own files and to the scheduler, except to adapters/redis', () => {
    const simulation = filesUnder(SIMULATION, '.ts');
    const paths = new Set([...files, ...simulation].map(({ path }) => path));
    const broken = simulation.flatMap((file) =>
      importsOfSimulation(file)
        .filter((target) => !paths.has(target) || target.startsWith(`${SRC}/adapters/redis/`))
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(simulation.length).toBeGreaterThan(30);
    expect(broken).toEqual([]);
  });

  it('keep the core free of I/O: domain, ports, management, runtime, session, cluster and webhooks import nothing of Node.js', () => {
    const pure = ['domain', 'ports', 'management', 'runtime', 'session', 'cluster', 'webhooks'];
    const broken = files
      .filter(({ path }) => pure.includes(folderOf(path)))
      .flatMap((file) =>
        importsOf(file.text)
          .filter((module) => !module.startsWith('.'))
          .map((module) => `${inside(file.path)} imports ${module}`),
      );
    expect(broken).toEqual([]);
  });
});
