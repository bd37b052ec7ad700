/**
 * Hot path: a large whole number as text. For numbers beyond 31 bits the runtime keeps every text that it makes, among what is old: numbers
 * that nobody prints twice are dear that way.
 */
const GROUP = 1_000;
const GROUPS: readonly string[] = Array.from({ length: GROUP }, (_, n) => String(n).padStart(3, '0'));
const LOW = GROUP ** 3;

/** From 0 to 2^53 - 1. */
export function spellWhole(number: number): string {
  if (number < LOW) return `${number}`;
  const high = Math.floor(number / LOW);
  const low = number - high * LOW;
  const last = low % GROUP;
  const middle = ((low - last) / GROUP) % GROUP;
  return `${high}${GROUPS[Math.floor(low / (GROUP * GROUP))]}${GROUPS[middle]}${GROUPS[last]}`;
}
