/** Prints the effective configuration with where each value is from; secrets only as "(set)". Pure. */
import type { Origins } from './load-config.ts';
import { printOrigin } from './origin.ts';
import { formatBytes, type Setting } from './setting.ts';
import { type Config, settingsByKey } from './settings.ts';

export interface PrintedSetting {
  /** Null when the setting is unset. */
  readonly value: unknown;
  readonly origin: string;
}

const MAX_VALUE_WIDTH = 48;

/** A table for people: key, value, origin. */
export function printConfig(config: Config, origins: Origins): string {
  const rows = [...settingsByKey].map(([key, setting]) => [
    key,
    printValue(setting, valueAt(config, key)),
    printOrigin(origins.get(key) ?? { kind: 'default' }),
  ]);
  const width = (column: number, max: number): number =>
    Math.min(max, Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const keyWidth = width(0, Number.POSITIVE_INFINITY);
  const valueWidth = width(1, MAX_VALUE_WIDTH);
  return rows
    .map(
      ([key = '', value = '', origin = '']) =>
        `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${origin}\n`,
    )
    .join('');
}

/** The same with what each setting means, for the console. */
export const listSettings = (config: Config, origins: Origins) =>
  Object.entries(configToJson(config, origins)).map(([key, printed]) => ({
    key,
    ...printed,
    doc: settingsByKey.get(key)?.doc ?? '',
  }));

/** The same for programs. */
export const configToJson = (config: Config, origins: Origins): Readonly<Record<string, PrintedSetting>> =>
  Object.fromEntries(
    [...settingsByKey].map(([key, setting]) => [
      key,
      {
        value: setting.conceal(valueAt(config, key)) ?? null,
        origin: printOrigin(origins.get(key) ?? { kind: 'default' }),
      },
    ]),
  );

/** A value as it is written in the file, without its secrets. */
export function printValue(setting: Setting<unknown>, value: unknown): string {
  const shown = setting.conceal(value);
  if (shown === undefined) return '(unset)';
  if (shown === '(set)') return shown;
  if (setting.type === 'bytes') return JSON.stringify(formatBytes(Number(shown)));
  return Array.isArray(shown)
    ? `[${shown.map((item) => JSON.stringify(item)).join(', ')}]`
    : JSON.stringify(shown);
}

function valueAt(config: Config, key: string): unknown {
  let value: unknown = config;
  for (const part of key.split('.')) value = (value as Readonly<Record<string, unknown>>)[part];
  return value;
}
