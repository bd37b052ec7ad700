/** Word error rate: substituted, missing and additional words, as parts of the words that were said. Pure. */

export interface WordErrors {
  readonly errors: number;
  readonly words: number;
}

/** Case and punctuation do not count, and neither does how a number is written: digits are read as words. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/\d/g, (digit) => ` ${DIGITS[Number(digit)]} `)
    .replaceAll(/[^\p{L}']+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
}

const DIGITS = 'zero one two three four five six seven eight nine'.split(' ');

export function wordErrors(said: string, recognised: string): WordErrors {
  const [wanted, got] = [wordsOf(said), wordsOf(recognised)];
  // The edit distance, one row at a time.
  let row = Array.from({ length: got.length + 1 }, (_, column) => column);
  wanted.forEach((word, index) => {
    const next = [index + 1];
    got.forEach((other, column) => {
      const replaced = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    });
    row = next;
  });
  return { errors: row[got.length] ?? 0, words: wanted.length };
}

export const errorRate = (all: readonly WordErrors[]): number => {
  const words = all.reduce((sum, each) => sum + each.words, 0);
  return words === 0 ? 0 : all.reduce((sum, each) => sum + each.errors, 0) / words;
};
