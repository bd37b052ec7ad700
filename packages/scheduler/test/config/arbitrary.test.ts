/** For any content of the sources, loading returns a result, never throws, and changes no prototype. */
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { expect, it } from 'vitest';
import { valueNames } from '../../src/config/known-names.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { editDistance } from '../../src/config/nearest-name.ts';
import { tableToSettings } from '../../src/config/sources.ts';
import { tomlLines } from '../../src/config/toml-lines.ts';

const dangerous = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
const names = fc.oneof(
  fc.constantFrom(
    ...dangerous,
    'server',
    'scheduler',
    'cluster',
    'pools',
    'phase2',
    'phase3',
    'redis',
    'tokens',
    'pools',
    'limits',
  ),
  fc.constantFrom(...valueNames.map((name) => name.slice(name.lastIndexOf('.') + 1))),
  fc.string(),
);
const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: false }),
  fc.boolean(),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
);
const { table } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('table')),
  table: fc.array(fc.tuple(names, tie('value')), { maxLength: 6 }).map((entries) => {
    // Like the result of a parser: own properties with any name.
    const made = {};
    for (const [name, value] of entries) {
      Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return made;
  }),
}));

const prototypesAreClean = (): boolean =>
  Object.keys(Object.prototype).length === 0 &&
  Object.keys(Array.prototype).length === 0 &&
  Object.getOwnPropertyNames(Object.prototype).length === propertiesBefore;
const propertiesBefore = Object.getOwnPropertyNames(Object.prototype).length;

it('loads or refuses any table', () => {
  fc.assert(
    fc.property(table, (raw) => {
      tableToSettings(raw, () => ({ kind: 'default' }));
      expect(prototypesAreClean()).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it('loads or refuses any table written as TOML, in any known group', () => {
  fc.assert(
    fc.property(
      table,
      fc.constantFrom('', 'server', 'scheduler', 'scheduler.pools', 'scheduler.cluster'),
      (raw, at) => {
        let wrapped: object = raw as object;
        for (const part of at.split('.').reverse()) if (part !== '') wrapped = { [part]: wrapped };
        const text = toToml(wrapped);
        if (text === undefined) return;
        const result = loadConfig({ toml: { path: 'c.toml', text } });
        expect(['ok', 'invalid']).toContain(result.kind);
        if (result.kind === 'invalid') expect(result.problems.length).toBeGreaterThan(0);
        expect(prototypesAreClean()).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

it('loads or refuses any text, environment and flags', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.dictionary(
        fc.string().map((name) => `LINGUA_${name}`),
        fc.string(),
      ),
      fc.array(fc.tuple(fc.constantFrom('set', 'host', 'port', 'other'), fc.string())),
      fc.tuple(fc.constantFrom(...valueNames), fc.string()),
      (text, env, flags, [key, value]) => {
        const result = loadConfig({
          toml: { path: 'c.toml', text },
          env,
          flags: [...flags, ['set', `${key}=${value}`]],
        });
        expect(['ok', 'invalid']).toContain(result.kind);
      },
    ),
    { numRuns: 500 },
  );
});

it('finds the lines of any text without failing', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (text, key) => void tomlLines(text)(key)));
});

it('measures a distance: zero only for equals, the same both ways', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, b)).toBe(editDistance(b, a));
    }),
  );
});

/** Undefined for values that TOML cannot express, such as a list of tables and values. */
function toToml(value: object): string | undefined {
  try {
    return stringify(value);
  } catch {
    return undefined;
  }
}
