/** Texts in the chosen language. A component that calls `t` is shown again when the language changes. */
import { type Language, language } from '../shell/preferences.ts';
import { fill, TABLES, type Values } from './tables.ts';

type Table<Key extends string> = Readonly<Record<Key, string>>;

export const textsIn = <Key extends string>(tables: Readonly<Record<Language, Table<Key>>>) => ({
  t: (key: Key, values: Values = {}): string => fill(tables[language.value][key], values),

  /** For words that come from the server: its own word if there is no text for it. */
  tOr(key: string, fallback: string, values: Values = {}): string {
    const table: Readonly<Record<string, string>> = tables[language.value];
    return fill(table[key] ?? fallback, values);
  },
});

export const { t, tOr } = textsIn(TABLES);
