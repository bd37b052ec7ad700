/**
 * Hot path: jobs are numbered in order, and the number is part of the job id. Tables find jobs by this number, and consecutive jobs are
 * neighbours in memory.
 */

/** "job-", then 22 random characters, then the number. A lease id begins with the id of its job. */
export const JOB_PREFIX = 'job-';
export const NAME_CHARS = 22;
const NUMBER_CHARS = 6;
const NUMBER_ENDS = JOB_PREFIX.length + NAME_CHARS + NUMBER_CHARS;

/** Numbers start again after this one. */
export const MOST_NUMBERS = 16 ** NUMBER_CHARS;

/** A lower-case letter whose character code ends in the four bits of the digit. */
const letter = (digit: number): number => 0x61 + ((digit + 15) & 15);

/** As six letters from a to p. */
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
 * The number in a job id or lease id. If the id of a bound job begins with the digest of its request, the last characters are a dash and
 * five random ones, so that no client can choose jobs with equal numbers. Any other text has some number, too.
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
