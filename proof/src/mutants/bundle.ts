/** The simulator and the checker in one file, made from the sources, with or without a mutant. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { type Mutant, mutate } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ENTRY = join(ROOT, 'proof/src/mutants/child.ts');
const SOURCES = join(ROOT, 'packages/scheduler/src');
/** Proofs and the simulation import compiled files; the mutants patch the sources. */
const COMPILED = /^(?:\.\.\/)+(?:packages\/)?(scheduler|simulation)\/dist\/(.*)\.js$/;

export const sourceOf = (mutant: Mutant): string => join(SOURCES, mutant.file);

export async function bundle(into: string, mutant?: Mutant): Promise<void> {
  let isMutated = mutant === undefined;
  const build = await rolldown({
    input: ENTRY,
    platform: 'node',
    resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
    // Large, and loaded only if traces are on.
    external: [/adapters\/opentelemetry\/tracer/],
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutant',
        resolveId(source) {
          const [, project, file] = COMPILED.exec(source) ?? [];
          return project === undefined ? null : join(ROOT, `packages/${project}/src/${file}.ts`);
        },
        async load(id) {
          if (mutant === undefined || id !== sourceOf(mutant)) return null;
          isMutated = true;
          return mutate(await readFile(id, 'utf8'), mutant);
        },
      },
    ],
  });
  try {
    await build.write({ file: into, format: 'esm', codeSplitting: false });
  } finally {
    await build.close();
  }
  if (!isMutated) throw new Error(`mutant "${mutant?.name}" is no part of the simulation: ${mutant?.file}`);
}
