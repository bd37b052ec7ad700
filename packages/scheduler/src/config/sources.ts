/** Reads the three sources of settings — file, environment, flags — into raw values under known names. Pure. */
import { parse, TomlError } from 'smol-toml';
import { ENV_PREFIX, keyOfEnvName, knownNames, valueNames } from './known-names.ts';
import { nearestName } from './nearest-name.ts';
import type { Finding, Origin } from './origin.ts';
import { describe, isTable } from './setting.ts';
import { presentName } from './settings.ts';
import { tomlLines } from './toml-lines.ts';

export interface RawValue {
  readonly value: unknown;
  /** Origin of the value, or of a part of it such as `server.tokens[0].role`. */
  readonly originAt: (at: string) => Origin;
}

/** The content of one source: raw values by known name, problems, and keys without effect. */
export interface Source {
  readonly values: ReadonlyMap<string, RawValue>;
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export interface TomlFile {
  readonly text: string;
  readonly path: string;
}

/** A flag of the command line without its dashes: `['set', 'server.port=5011']`, `['port', '5011']`. */
export type Flag = readonly [name: string, value: string];

/** Variables that start with LINGUA_ but are not settings: commands that call a scheduler read them. */
export const NON_CONFIG_VARIABLES: ReadonlySet<string> = new Set(['LINGUA_URL', 'LINGUA_TOKEN']);

/** Flags that stand for one setting. */
const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['host', 'server.host'],
  ['port', 'server.port'],
]);

export function tomlToSettings({ text, path }: TomlFile): Source {
  try {
    const lineOf = tomlLines(text);
    const table = parse(text, { maxDepth: 32 });
    return tableToSettings(table, (at) => {
      const line = lineOf(at);
      return line === undefined ? { kind: 'file', path } : { kind: 'file', path, line };
    });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The parser's message continues with the lines around the mistake, which may contain a secret.
    const message = `is not valid TOML: ${error.message.split('\n', 1)[0]} (column ${error.column})`;
    return source([{ key: path, message, origin: { kind: 'file', path, line: error.line } }]);
  }
}

export function tableToSettings(table: unknown, originAt: (at: string) => Origin): Source {
  const collected = collector();
  const visit = (value: unknown, prefix: string): void => {
    if (!isTable(value)) return;
    for (const name of Object.keys(value)) {
      const key = prefix === '' ? name : `${prefix}.${name}`;
      const inner = value[name];
      const isGroup = knownNames.get(key)?.kind === 'group';
      if (isGroup && isTable(inner)) visit(inner, key);
      else if (isGroup) {
        const message = `is a group of settings, got ${describe(inner)}`;
        collected.problems.push({ key, message, origin: originAt(key) });
      } else collected.add(key, inner, originAt);
    }
  };
  visit(table, '');
  return collected;
}

export function envToSettings(env: Readonly<Record<string, string | undefined>>): Source {
  const collected = collector();
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith(ENV_PREFIX)) continue;
    if (NON_CONFIG_VARIABLES.has(name) || isServiceLink(name, text)) continue;
    const origin: Origin = { kind: 'environment', name };
    const key = keyOfEnvName.get(name);
    if (key !== undefined) collected.addText(key, text, origin);
    else {
      const nearest = nearestName(name, keyOfEnvName.keys());
      collected.problems.push({ key: name, message: `is no setting${suggestion(nearest)}`, origin });
    }
  }
  return collected;
}

export function flagsToSettings(flags: readonly Flag[]): Source {
  const collected = collector();
  for (const [name, value] of flags) {
    const origin: Origin = { kind: 'flag', name: `--${name}` };
    const shorthand = SHORTHANDS.get(name);
    const equals = value.indexOf('=');
    if (shorthand !== undefined) collected.addText(shorthand, value, origin);
    else if (name !== 'set') collected.problems.push({ key: `--${name}`, message: 'is no setting', origin });
    else if (equals < 1) {
      collected.problems.push({ key: '--set', message: 'needs key=value', origin });
    } else {
      const key = value.slice(0, equals).trim();
      collected.addText(key, value.slice(equals + 1), { kind: 'flag', name: `--set ${key}` });
    }
  }
  return collected;
}

/** Kubernetes sets variables for each service in every container; a service called "lingua" must not prevent the start. */
const isServiceLink = (name: string, value: string): boolean =>
  /_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$|_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

const suggestion = (nearest: string | undefined): string =>
  nearest === undefined ? '' : `; did you mean ${nearest}?`;

const source = (problems: readonly Finding[]): Source => ({ values: new Map(), problems, warnings: [] });

function collector() {
  const values = new Map<string, RawValue>();
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  const add = (key: string, value: unknown, originAt: (at: string) => Origin): void => {
    const known = knownNames.get(key);
    if (known?.kind === 'setting') values.set(key, { value, originAt });
    else if (known?.kind === 'ignored') {
      warnings.push({ key, message: `has no effect. ${known.doc}`, origin: originAt(key) });
    } else {
      const found = nearestName(key, isTable(value) ? knownNames.keys() : valueNames);
      const isOfEarlierFile = presentName(key) !== key;
      const nearest = found === undefined || isOfEarlierFile ? found : presentName(found);
      problems.push({ key, message: `is no setting${suggestion(nearest)}`, origin: originAt(key) });
    }
  };
  const addText = (key: string, text: string, origin: Origin): void => {
    const known = knownNames.get(key);
    add(key, known?.kind === 'setting' ? known.setting.fromText(text) : text, () => origin);
  };
  return { values, problems, warnings, add, addText };
}
