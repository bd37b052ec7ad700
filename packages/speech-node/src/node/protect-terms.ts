/**
 * Terms of a glossary pass a translator that has no glossary as words that it does not know, which it leaves as they are, and become their
 * prescribed translations afterwards. Pure.
 */

export interface Term {
  readonly source: string;
  readonly target: string;
}

export interface ProtectedText {
  /** For the translator. */
  readonly text: string;
  /** The terms that occur in it. */
  readonly used: readonly string[];
  /** Undefined: a term did not come back, so the translator must get the text as it was. */
  restore(translated: string): string | undefined;
}

export function protectTerms(text: string, terms: readonly Term[]): ProtectedText {
  const word = wordUnlike(text);
  const used: Term[] = [];
  let counted = 0;
  let protectedText = text;
  // The longest first: "slot cover" is not "slot".
  for (const term of [...terms].sort((one, other) => other.source.length - one.source.length)) {
    const occurrences = occurrencesOf(term.source);
    const name = nameOf(used.length);
    const found = protectedText.match(occurrences)?.length ?? 0;
    if (found === 0) continue;
    protectedText = protectedText.replaceAll(occurrences, `${word}${name}`);
    counted += found;
    used.push(term);
  }
  return {
    text: protectedText,
    used: used.map(({ source }) => source),
    restore(translated) {
      let restored = 0;
      const result = translated.replaceAll(new RegExp(`${word}([a-z]{2})`, 'giu'), (whole, name: string) => {
        const term = used[numberOf(name.toLowerCase())];
        if (term === undefined) return whole;
        restored += 1;
        return term.target;
      });
      return restored === counted ? result : undefined;
    },
  };
}

/** Whole words only, upper or lower case. */
const occurrencesOf = (term: string): RegExp => {
  const words = term.trim().split(/\s+/).map(escaped);
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${words.join(String.raw`\s+`)}(?![\p{L}\p{N}])`, 'giu');
};

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

/** No language has it, nor has the text. */
function wordUnlike(text: string): string {
  let word = 'Xqvz';
  while (text.toLowerCase().includes(word.toLowerCase())) word += 'q';
  return word;
}

const A = 97;
const LETTERS = 26;

/** Two letters: a job has fewer terms. */
const nameOf = (number: number): string =>
  String.fromCharCode(A + Math.floor(number / LETTERS), A + (number % LETTERS));

const numberOf = (name: string): number => (name.charCodeAt(0) - A) * LETTERS + (name.charCodeAt(1) - A);
