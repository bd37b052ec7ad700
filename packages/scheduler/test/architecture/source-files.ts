/** The repository's own source files as text, and what each of them imports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

export interface SourceFile {
  /** From the top of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const SKIPPED = new Set(['node_modules', 'dist', 'coverage']);

/** All files under a folder whose name ends so; none if there is no such folder. */
export function filesUnder(folder: string, ending: string): SourceFile[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesUnder(path, ending);
    return entry.name.endsWith(ending) ? [{ path, text: readFileSync(join(ROOT, path), 'utf8') }] : [];
  });
}

/** The packages of npm: the Python SDK is none. */
export const PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) =>
  existsSync(join(ROOT, 'packages', name, 'package.json')),
);

/** What is shipped, of all packages. */
export const sources = PACKAGES.flatMap((name) =>
  ['.ts', '.tsx'].flatMap((ending) => filesUnder(`packages/${name}/src`, ending)),
);

/** Every TypeScript file written by hand: sources, tests, benchmarks, proofs. */
export const written = ['packages', 'bench', 'proof'].flatMap((folder) =>
  ['.ts', '.tsx'].flatMap((ending) => filesUnder(folder, ending)),
);

const STATEMENT = /^[ \t]*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm;
const BARE = /^[ \t]*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*[,)]/g;

/** Every module a text imports, types included. */
export function importsOf(text: string): string[] {
  return [STATEMENT, BARE, DYNAMIC].flatMap((form) =>
    [...text.matchAll(form)].map(([, module = '']) => module),
  );
}

/** A relative import as a path from the top of the repository. */
export const resolveImport = (from: SourceFile, module: string): string =>
  posix.join(posix.dirname(from.path), module);

/** The package an import comes from: `@fastify/swagger/x` → `@fastify/swagger`. Undefined for relative imports. */
export function packageOf(module: string): string | undefined {
  if (module.startsWith('.') || module.startsWith('node:')) return undefined;
  const [first = '', second] = module.split('/');
  return first.startsWith('@') && second !== undefined ? `${first}/${second}` : first;
}
