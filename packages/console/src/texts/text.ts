/** Texts in the chosen language. A component that calls `t` is shown again when the language changes. */
import { language } from '../shell/preferences.ts';
import { en } from './en.ts';
import { zh } from './zh.ts';

export type TextKey = keyof typeof en;
export type Values = Readonly<Record<string, string | number>>;

export const TABLES = { en, zh } as const;

export const fill = (text: string, values: Values): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

export const t = (key: TextKey, values: Values = {}): string => fill(TABLES[language.value][key], values);

/** For words that come from the server: its own word if there is no text for it. */
export const tOr = (key: string, fallback: string, values: Values = {}): string => {
  const table: Readonly<Record<string, string>> = TABLES[language.value];
  return fill(table[key] ?? fallback, values);
};
