/**
 * Hot path: jobs are numbered in the order in which they come, and the number stands in the name. Whoever keeps jobs finds them by it, and
 * those that came one after the other lie side by side.
 */

/** "job-", then 22 characters that nobody can guess, then the number. Names of leases begin with the name of their job. */
export const JOB_PREFIX = 'job-';
export const NAME_CHARS = 22;
const NUMBER_CHARS = 6;
const NUMBER_ENDS = JOB_PREFIX.length + NAME_CHARS + NUMBER_CHARS;

/** Numbers go up to here, and begin anew. */
export const MOST_NUMBERS = 16 ** NUMBER_CHARS;

/** A lower-case letter whose character code ends in the four bits of the digit. */
const letter = (digit: number): number => 0x61 + ((digit + 15) & 15);

/** As six of the letters from a to p. */
export const spellNumber = (number: number): string =>
  String.fromCharCode(
    letter(number >> 20),
    letter(number >> 16),
    letter(number >> 12),
    letter(number >> 8),
    letter(number >> 4),
    letter(number),
  );

/**
 * Of a job, or of a lease. Where the name of a bound job begins with the digest of its request, it is a dash and five characters that nobody
 * can guess: no client can choose which jobs share a number. Any other name has some number, too.
 */
export function numberIn(name: string): number {
  const at = (name.length < NUMBER_ENDS ? name.length : NUMBER_ENDS) - NUMBER_CHARS;
  return (
    ((name.charCodeAt(at) & 15) << 20) |
    ((name.charCodeAt(at + 1) & 15) << 16) |
    ((name.charCodeAt(at + 2) & 15) << 12) |
    ((name.charCodeAt(at + 3) & 15) << 8) |
    ((name.charCodeAt(at + 4) & 15) << 4) |
    (name.charCodeAt(at + 5) & 15)
  );
}
