/** Hot path: text from a peer to a clean JSON value, in one parse and one walk. */
import { type Problem, pointerSegment, problem } from './problem.ts';

export type ParsedJson = { ok: true; value: unknown } | { ok: false; problem: Problem };

export const DEEPEST_NESTING = 32;
/** The largest registrations have half as many; a million tiny ones would hold the process for seconds. */
export const MOST_VALUES = 50_000;
/** Twice the largest map of the protocol. */
export const WIDEST_OBJECT = 2_048;

/**
 * Parses, then cleans in place: null properties go (null means absent at any depth), `__proto__` goes (however it was
 * escaped), numbers that overflowed to Infinity and nesting beyond the limit are refused. Nulls inside arrays stay, since
 * removing them would move the others; validation names their place. What has too many values is not even parsed.
 */
export function parseJson(text: string): ParsedJson {
  if (hasTooManyValues(text)) {
    return { ok: false, problem: problem('', `there are more than ${MOST_VALUES} values`) };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the input, which does not belong in logs.
    return { ok: false, problem: problem('', 'the text is not valid JSON') };
  }
  const refusal = clean(value, 0);
  return refusal === undefined
    ? { ok: true, value }
    : { ok: false, problem: problem(refusal.path, refusal.message) };
}

/** Every value but the first of its list or object comes after a comma; those inside texts are far fewer than the limit. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= MOST_VALUES) return false;
  let commas = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    commas += 1;
    if (commas >= MOST_VALUES) return true;
  }
  return false;
}

/** Recursion is safe: it ends at the nesting limit. The path is only put together on the way back from a refusal. */
function clean(value: unknown, depth: number): Problem | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : { path: '', message: 'a number is too large' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === DEEPEST_NESTING) {
    return { path: '', message: `nested deeper than ${DEEPEST_NESTING} levels` };
  }
  return Array.isArray(value)
    ? cleanArray(value, depth)
    : cleanObject(value as Record<string, unknown>, depth);
}

function cleanArray(items: unknown[], depth: number): Problem | undefined {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (typeof item === 'string') continue;
    const refusal = clean(item, depth + 1);
    if (refusal !== undefined)
      return { path: pointerSegment(index) + refusal.path, message: refusal.message };
  }
  return undefined;
}

function cleanObject(fields: Record<string, unknown>, depth: number): Problem | undefined {
  let width = 0;
  for (const key in fields) {
    width += 1;
    if (width > WIDEST_OBJECT)
      return { path: '', message: `there are more than ${WIDEST_OBJECT} fields in one object` };
    const field = fields[key];
    if (typeof field === 'string' && key !== '__proto__') continue;
    if (field === null || key === '__proto__') {
      delete fields[key];
      continue;
    }
    const refusal = clean(field, depth + 1);
    if (refusal !== undefined) return { path: pointerSegment(key) + refusal.path, message: refusal.message };
  }
  return undefined;
}
