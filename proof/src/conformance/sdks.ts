/** The scenarios, and the programs of this repository's own SDKs. */
import { fileURLToPath } from 'node:url';

/** The same from the sources and from the built files. */
export const SCENARIOS = new URL('../../conformance/', import.meta.url);

const pathOf = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Debian's Python has Debian's packages; LINGUA_PYTHON names another one. */
const python = (): string => process.env.LINGUA_PYTHON ?? '/usr/bin/python3';

const OWN: ReadonlyMap<string, () => string> = new Map([
  [
    'typescript',
    () => `exec "${process.execPath}" "${pathOf('proof/dist/conformance/typescript-node-program.js')}"`,
  ],
  [
    'python',
    () =>
      `PYTHONPATH="${pathOf('packages/python/src')}" PYTHONDONTWRITEBYTECODE=1 exec "${python()}" "${pathOf('packages/python/test/conformance_node.py')}"`,
  ],
]);

/** The shell command of a name, or the command itself. */
export const commandOf = (sdk: string): string => OWN.get(sdk)?.() ?? sdk;
