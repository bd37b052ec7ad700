/** Hot path: parses text from a peer to a clean JSON value, in one parse and one walk. */
import { describeOffset, findJsonFault } from './find-json-fault.ts';
import { type Problem, pointerSegment, problem } from './problem.ts';

export type ParsedJson = { ok: true; value: unknown } | { ok: false; problem: Problem };

export const MAX_NESTING = 32;
/** Twice as many as the largest registrations have; a million tiny ones would block the process for seconds. */
export const MAX_VALUES = 50_000;
/** Twice the largest map of the protocol. */
export const MAX_FIELDS = 2_048;

/**
 * Parses, then cleans in place: removes null properties (null means absent at any depth) and `__proto__` (however it
 * was escaped), and refuses numbers that overflowed to Infinity and nesting beyond the limit. Nulls inside arrays
 * stay, because removing them would move the others; validation names their place. Text with too many values is not
 * parsed.
 */
export function parseJson(text: string): ParsedJson {
  if (hasTooManyValues(text)) {
    return { ok: false, problem: problem('', `there are more than ${MAX_VALUES} values`) };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the input, which must not reach logs.
    const offset = findJsonFault(text);
    const what = offset >= text.length ? 'ends too early' : 'is wrong';
    const where = describeOffset(text, offset);
    return { ok: false, problem: problem('', `the text is not valid JSON: it ${what} at ${where}`) };
  }
  const refusal = clean(value, 0);
  return refusal === undefined
    ? { ok: true, value }
    : { ok: false, problem: problem(refusal.path, refusal.message) };
}

/** Every value but the first of its list or object follows a comma; commas inside strings are far fewer than the limit. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= MAX_VALUES) return false;
  let commas = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    commas += 1;
    if (commas >= MAX_VALUES) return true;
  }
  return false;
}

/** Recursion is safe: it ends at the nesting limit. The path is built only on the way back from a refusal. */
function clean(value: unknown, depth: number): Problem | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : { path: '', message: 'a number is too large' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_NESTING) {
    return { path: '', message: `nested deeper than ${MAX_NESTING} levels` };
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
    if (width > MAX_FIELDS)
      return { path: '', message: `there are more than ${MAX_FIELDS} fields in one object` };
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
