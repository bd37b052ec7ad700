/** Texts in the chosen language. A component that calls `t` is shown again when the language changes. */
import { language } from '../shell/preferences.ts';
import { fill, TABLES, type TextKey, type Values } from './tables.ts';

export const t = (key: TextKey, values: Values = {}): string => fill(TABLES[language.value][key], values);

/** For words that come from the server: its own word if there is no text for it. */
export const tOr = (key: string, fallback: string, values: Values = {}): string => {
  const table: Readonly<Record<string, string>> = TABLES[language.value];
  return fill(table[key] ?? fallback, values);
};
