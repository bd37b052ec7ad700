/** Builds the configuration from defaults, file, environment and flags, or reports all problems. Pure. */
import { columnsOf } from './compound-setting.ts';
import { checkExposure } from './exposure.ts';
import { checkNesting } from './nesting.ts';
import type { CheckFinding, Finding, Origin } from './origin.ts';
import { checkReferences } from './references.ts';
import { type Alias, type AnyGroup, describe, type Setting } from './setting.ts';
import { checkWebhooks } from './settings/check-webhooks.ts';
import { type Config, presentName, settings, settingsByKey } from './settings.ts';
import {
  envToSettings,
  type Flag,
  flagsToSettings,
  type Source,
  type TomlFile,
  tomlToSettings,
} from './sources.ts';
import { checkTokens } from './tokens.ts';

/** Origin of each setting, by its key; rows of tables are included, as `server.tokens[0]`. */
export type Origins = ReadonlyMap<string, Origin>;

export type LoadResult =
  | {
      readonly kind: 'ok';
      readonly config: Config;
      readonly origins: Origins;
      readonly warnings: readonly Finding[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly Finding[] };

export interface ConfigSources {
  readonly toml?: TomlFile | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: readonly Flag[];
}

export function loadConfig({ toml, env = {}, flags = [] }: ConfigSources): LoadResult {
  // Later sources win.
  const sources = [
    ...(toml === undefined ? [] : [tomlToSettings(toml)]),
    envToSettings(env),
    flagsToSettings(flags),
  ];
  const values = new Map<string, unknown>();
  const origins = new Map<string, Origin>();
  for (const [key, setting] of settingsByKey) {
    values.set(key, setting.default);
    origins.set(key, { kind: 'default' });
  }
  const problems: Finding[] = [];
  for (const source of sources) {
    problems.push(...source.problems);
    for (const [key, setting] of settingsByKey) {
      const given = readFrom(source, key, setting, problems);
      if (given === undefined) continue;
      values.set(key, given.value);
      origins.set(key, given.originAt(given.name));
      // Rows have their own lines, which later checks report.
      if (columnsOf(setting) !== undefined && Array.isArray(given.value)) {
        for (const index of given.value.keys()) {
          origins.set(`${key}[${index}]`, given.originAt(`${given.name}[${index}]`));
        }
      }
    }
  }
  const config = build(settings, '', values) as Config;
  const { problems: refused, warnings } = checkConfig(config);
  // A value that could not be read was replaced by its default; checks must not report that default.
  const broken = new Set(problems.map(({ key }) => presentName(key)));
  for (const finding of refused) {
    if (!finding.keys.some((key) => broken.has(key))) problems.push(locate(finding, origins));
  }
  if (problems.length > 0) return { kind: 'invalid', problems: distinct(problems) };
  return {
    kind: 'ok',
    config,
    origins,
    warnings: [
      ...sources.flatMap((source) => source.warnings),
      ...warnings.map((finding) => locate(finding, origins)),
    ],
  };
}

/** Checks that need several settings. */
export function checkConfig(config: Config): {
  readonly problems: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
} {
  const checks = [checkNesting, checkReferences, checkTokens, checkWebhooks, checkExposure].map((check) =>
    check(config),
  );
  return {
    problems: checks.flatMap((check) => check.problems),
    warnings: checks.flatMap((check) => check.warnings),
  };
}

/** The place of a finding: the origin of its first key that is not a default. */
export function locate({ keys, message }: CheckFinding, origins: Origins): Finding {
  const [first] = keys;
  const originOf = (key: string): Origin =>
    origins.get(key) ??
    origins.get(key.replace(/\].*$/, ']')) ??
    origins.get(key.replace(/\[.*$/, '')) ?? { kind: 'default' };
  const key = keys.find((each) => originOf(each).kind !== 'default') ?? first;
  return { key: first, message, origin: originOf(key) };
}

interface Given {
  readonly value: unknown;
  readonly name: string;
  readonly originAt: (at: string) => Origin;
}

/** The value of one source for a setting, under its own name or an alias. */
function readFrom(
  source: Source,
  key: string,
  setting: Setting<unknown>,
  problems: Finding[],
): Given | undefined {
  let given: Given | undefined;
  for (const alias of [{ key }, ...setting.aliases] as readonly Alias[]) {
    const raw = source.values.get(alias.key);
    if (raw === undefined || (alias.isShorthand === true && given !== undefined)) continue;
    const problemsBefore = problems.length;
    const value = readScaled(setting, key, alias, raw.value, (at, message) =>
      problems.push({ key: at, message, origin: raw.originAt(at) }),
    );
    if (problems.length > problemsBefore) continue;
    if (given === undefined) given = { value, name: alias.key, originAt: raw.originAt };
    else if (JSON.stringify(given.value) !== JSON.stringify(value)) {
      const [one, other] = [value, given.value].map((each) => describe(setting.conceal(each)));
      const message = `contradicts ${given.name}: both mean the same, ${one} and ${other}; remove one of them`;
      problems.push({ key: alias.key, message, origin: raw.originAt(alias.key) });
    }
  }
  return given;
}

function readScaled(
  setting: Setting<unknown>,
  key: string,
  { key: name, scale = 1 }: Alias,
  value: unknown,
  refuse: (at: string, message: string) => void,
): unknown {
  if (scale === 1 || typeof value !== 'number') return setting.read(value, name, refuse);
  // Rounded, because 1.001 × 1000 is not 1001 in binary.
  const scaled = Number((value * scale).toFixed(3));
  return setting.read(scaled, name, (at, message) =>
    refuse(at, `is ${value}; times ${scale} it is ${key}, which ${message}`),
  );
}

function build(table: AnyGroup, prefix: string, values: ReadonlyMap<string, unknown>): object {
  const result: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(table.entries)) {
    const key = prefix + name;
    if (entry.kind === 'group') result[name] = build(entry, `${key}.`, values);
    else if (entry.kind === 'setting') result[name] = freeze(values.get(key));
  }
  return Object.freeze(result);
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** A wrong shorthand for three settings is reported once. */
const distinct = (problems: readonly Finding[]): readonly Finding[] => [
  ...new Map(problems.map((problem) => [`${problem.key} ${problem.message}`, problem])).values(),
];
