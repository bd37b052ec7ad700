/** Times during which something was true, searched in logarithmic time: a long history has many faults and many more questions. Pure. */

export interface Span {
  readonly from: number;
  /** Infinity: without end. */
  readonly to: number;
}

export interface Spans {
  /** At its edges, too. */
  has(at: number): boolean;
  /** The span that contains this time. */
  find(at: number): Span | undefined;
  /** The last span that began by then, over or not. */
  lastBy(at: number): Span | undefined;
  /** Whether any of it lies between the two. */
  meets(from: number, to: number): boolean;
  /** How much of it lies between the two. */
  lengthWithin(from: number, to: number): number;
}

export function createSpans(spans: readonly Span[]): Spans {
  const all = merge(spans);
  /** How much of it there is before each. */
  const before: number[] = [];
  let sum = 0;
  for (const { from, to } of all) {
    before.push(sum);
    sum += to - from;
  }

  /** Of the last one that begins by then, or -1. */
  function indexBy(at: number): number {
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((all[middle]?.from ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  function lengthUntil(at: number): number {
    const index = indexBy(at);
    const span = all[index];
    return span === undefined ? 0 : (before[index] ?? 0) + Math.min(at, span.to) - span.from;
  }

  const lastBy = (at: number): Span | undefined => all[indexBy(at)];

  function find(at: number): Span | undefined {
    const span = lastBy(at);
    return span !== undefined && span.to >= at ? span : undefined;
  }

  return {
    find,
    lastBy,
    has: (at) => find(at) !== undefined,
    meets: (from, to) => (lastBy(to)?.to ?? Number.NEGATIVE_INFINITY) >= from,
    lengthWithin: (from, to) => (to <= from ? 0 : lengthUntil(to) - lengthUntil(from)),
  };
}

function merge(spans: readonly Span[]): Span[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}
