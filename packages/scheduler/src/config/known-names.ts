/** Every name in a configuration, its meaning, and its environment variable. Pure. */
import type { Setting } from './setting.ts';
import { formerName, settingsByKey, walk } from './settings.ts';

export type Known =
  /** `setting`: the setting that parses the text of the name: its own, or that of the key it stands for. */
  | { readonly kind: 'setting'; readonly setting: Setting<unknown> }
  | { readonly kind: 'ignored'; readonly doc: string }
  | { readonly kind: 'group' };

export const ENV_PREFIX = 'LINGUA_';

export const envName = (key: string): string => ENV_PREFIX + key.toUpperCase().replaceAll('.', '__');

export const knownNames: ReadonlyMap<string, Known> = new Map([
  ...[...walk()].flatMap(({ key, entry }): [string, Known][] => {
    const known: Known =
      entry.kind === 'setting'
        ? { kind: 'setting', setting: entry }
        : entry.kind === 'ignored'
          ? { kind: 'ignored', doc: entry.doc }
          : { kind: 'group' };
    const former = formerName(key);
    return [[key, known], ...(former === undefined ? [] : [[former, known] as [string, Known]])];
  }),
  ...[...settingsByKey.values()].flatMap((setting) =>
    setting.aliases.map(({ key }): [string, Known] => [key, { kind: 'setting', setting }]),
  ),
]);

/** Names with a value, as opposed to groups. */
export const valueNames: readonly string[] = [...knownNames]
  .filter(([, known]) => known.kind !== 'group')
  .map(([name]) => name);

export const keyOfEnvName: ReadonlyMap<string, string> = new Map(
  valueNames.map((key) => [envName(key), key]),
);
