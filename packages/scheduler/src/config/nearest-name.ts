/** The known name that is most similar to a mistyped one. Pure. */

export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  // A name without any common letter is not a typing error.
  const tolerance = Math.min(name.length - 1, Math.max(2, name.length * 0.35));
  let best: { readonly name: string; readonly score: number } | undefined;
  for (const candidate of known) {
    // The right last part in the wrong group is a more likely mistake than its distance suggests.
    const weight = name.includes('.') && lastPart(candidate) === lastPart(name) ? 0.25 : 1;
    if (Math.abs(candidate.length - name.length) * weight > tolerance) continue;
    const score = editDistance(name.toLowerCase(), candidate.toLowerCase()) * weight;
    if (score <= tolerance && (best === undefined || score < best.score)) best = { name: candidate, score };
  }
  return best?.name;
}

/** Levenshtein distance: how many letters to insert, delete or replace. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replace, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}

const MAX_LENGTH = 120;

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
