/**
 * Semantic repair of recognised text: only what changes the form, never the words. Corrections by likeliness were measured
 * and changed meanings ("Turn right" to "Turn left"), so there are none. Pure.
 */
import { writeNumbers } from './english-numbers.ts';

export interface Repaired {
  readonly text: string;
  /** Names of the rules that changed the text. */
  readonly rules: readonly string[];
}

type Rule = readonly [name: string, change: (text: string) => string];

const SPACES: Rule = [
  'spaces',
  (text) =>
    text
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ([.,;:!?])/g, '$1')
      .trim(),
];
/** Hesitation repeats small words; "that that" and "had had" are correct English, so they are left out. */
const REPEATED: Rule = [
  'repeated_words',
  (text) => text.replaceAll(/\b(the|a|an|to|of|in|and|i)(?: \1\b)+/gi, '$1'),
];
const CAPITAL: Rule = [
  'capital',
  (text) =>
    text.replace(
      /^([¿¡"'(]*)(\p{Ll})/u,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    ),
];
const FULL_STOP: Rule = ['full_stop', (text) => (/[\p{L}\p{N}]$/u.test(text) ? `${text}.` : text)];
const ENGLISH_I: Rule = ['capital_i', (text) => text.replaceAll(/\bi\b(?=$|[ ,.;!?'])/g, 'I')];
const ENGLISH_NUMBERS: Rule = ['numbers', writeNumbers];
const UNITS: Rule = ['units', (text) => text.replaceAll(/\b(\d+) percent\b/g, '$1%')];
const OPENING_MARKS: Rule = [
  'opening_marks',
  (text) => (/^[^¿]*\?$/.test(text) ? `¿${text}` : /^[^¡]*!$/.test(text) ? `¡${text}` : text),
];

/** Languages without an entry have no repair, and a node does not offer it for them. */
const RULES: ReadonlyMap<string, readonly Rule[]> = new Map([
  ['en', [SPACES, REPEATED, ENGLISH_I, ENGLISH_NUMBERS, UNITS, CAPITAL, FULL_STOP]],
  ['es', [SPACES, CAPITAL, FULL_STOP, OPENING_MARKS]],
]);

export const repairedLanguages = (): string[] => [...RULES.keys()];

/** A text in another language comes back as it was. */
export function repair(text: string, language: string): Repaired {
  let repaired = text;
  const rules: string[] = [];
  for (const [name, change] of RULES.get(language) ?? []) {
    const changed = change(repaired);
    if (changed !== repaired) rules.push(name);
    repaired = changed;
  }
  return { text: repaired, rules };
}
