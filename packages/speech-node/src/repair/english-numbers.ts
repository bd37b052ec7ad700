/** Writes English numbers of two and more words as digits: translators of words would translate each word alone. Pure. */

const UNITS = new Map(
  'one two three four five six seven eight nine'.split(' ').map((word, index) => [word, index + 1] as const),
);
const TEENS = new Map(
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, index) => [word, index + 10] as const),
);
const TENS = new Map(
  'twenty thirty forty fifty sixty seventy eighty ninety'
    .split(' ')
    .map((word, index) => [word, (index + 2) * 10] as const),
);
const NUMBER_WORDS = [...UNITS.keys(), ...TEENS.keys(), ...TENS.keys(), 'hundred', 'thousand'].join('|');
const RUN = new RegExp(String.raw`\b(?:${NUMBER_WORDS})(?:(?:[ -]| and )(?:${NUMBER_WORDS}))+\b`, 'gi');

/** "twenty-five" → "25". Years and digits that are read one by one ("nineteen eighty four", "five five") stay words. */
export const writeNumbers = (text: string): string =>
  text.replaceAll(RUN, (words) => {
    const value = amountOf(words.toLowerCase());
    return value === undefined ? words : String(value);
  });

/** Undefined if the words are no single number. */
function amountOf(words: string): number | undefined {
  const [high = '', low, ...more] = words.split(/ thousand(?: and )? ?/);
  if (more.length > 0) return undefined;
  if (low === undefined) return belowThousand(high);
  const thousands = belowThousand(high);
  const rest = low === '' ? 0 : belowThousand(low);
  return thousands === undefined || rest === undefined ? undefined : thousands * 1_000 + rest;
}

function belowThousand(words: string): number | undefined {
  const [high = '', low, ...more] = words.split(/ hundred(?: and )? ?/);
  if (more.length > 0) return undefined;
  if (low === undefined) return belowHundred(high);
  const hundreds = UNITS.get(high);
  const rest = low === '' ? 0 : belowHundred(low);
  return hundreds === undefined || rest === undefined ? undefined : hundreds * 100 + rest;
}

function belowHundred(words: string): number | undefined {
  const [first = '', second, ...more] = words.split(/[ -]/);
  if (more.length > 0) return undefined;
  if (second === undefined) return UNITS.get(first) ?? TEENS.get(first) ?? TENS.get(first);
  const [tens, unit] = [TENS.get(first), UNITS.get(second)];
  return tens === undefined || unit === undefined ? undefined : tens + unit;
}
