/** The texts of each language, and how values are put into them. Pure. */
import { en } from './en.ts';
import { zh } from './zh.ts';

export type TextKey = keyof typeof en;
export type Values = Readonly<Record<string, string | number>>;

export const TABLES = { en, zh } as const;

const PLACE = /\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g;

/** `{name}` is the value; `{name|one|other}` is a word that depends on it: the first if it is 1. */
export const fill = (text: string, values: Values): string =>
  text.replaceAll(PLACE, (whole, name: string, one?: string, other?: string) => {
    const value = values[name];
    if (one === undefined || other === undefined) return String(value ?? whole);
    return String(value) === '1' ? one : other;
  });
