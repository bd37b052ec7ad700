/** Cold path: the known word that a peer most likely meant. Pure. */

const LONGEST_COMPARED = 64;
/** The share of characters that may differ. */
const TOLERANCE = 0.35;

/** Undefined: no known word is near enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const given = word.slice(0, LONGEST_COMPARED);
  let best: string | undefined;
  let fewest = Math.min(given.length, Math.floor(Math.max(2, given.length * TOLERANCE)) + 1);
  for (const candidate of known) {
    const edits = editDistance(given, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substituted = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

const at = (row: number[], index: number): number => row[index] ?? 0;
