/** Declared scenarios: those that come with the bench, and a file of the user. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readScenario } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';

/** Beside `src` and `dist`, from either. */
const FOLDER = fileURLToPath(new URL('../../scenarios', import.meta.url));
const ENDING = '.toml';

const readFile = (path: string, shown: string): Scenario =>
  readScenario(shown, basename(path, ENDING), readFileSync(path, 'utf8'));

export function declaredScenarios(): readonly Scenario[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(ENDING))
    .sort()
    .map((name) => readFile(join(FOLDER, name), `bench/scenarios/${name}`));
}

/** By the name of one that comes with the bench, or by the path of a file. */
export function findScenario(nameOrFile: string): Scenario {
  if (nameOrFile.endsWith(ENDING)) {
    if (!existsSync(nameOrFile)) throw new Error(`there is no file ${nameOrFile}`);
    return readFile(nameOrFile, nameOrFile);
  }
  const known = declaredScenarios();
  const found = known.find(({ name }) => name === nameOrFile);
  if (found !== undefined) return found;
  throw new Error(
    `there is no scenario "${nameOrFile}"; declared are ${known.map(({ name }) => name).join(', ')}`,
  );
}
