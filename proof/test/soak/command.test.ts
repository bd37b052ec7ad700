/** The command line of the soak: its meaning and its errors. */
import { describe, expect, it } from 'vitest';
import { readCommand } from '../../src/soak/command.ts';

const read = (...argv: readonly string[]) => readCommand(argv, () => 77);

describe('the command line of the soak', () => {
  it('runs ten minutes on two instances with a random seed by default', () => {
    expect(read()).toEqual({ minutes: 10, seed: 77, instances: 2, htmlPath: undefined, isJson: false });
    expect(
      read('--minutes', '0.5', '--seed', '3', '--instances', '1', '--html', 'soak.html', '--json'),
    ).toEqual({ minutes: 0.5, seed: 3, instances: 1, htmlPath: 'soak.html', isJson: true });
    expect(read('--help')).toBe('help');
  });

  it.each([
    [['--minutes', 'long'], /--minutes takes a number/],
    [['--minutes', '0'], /--minutes takes a number/],
    [['--seed', '1.5'], /--seed takes a whole number/],
    [['--instances', '0'], /--instances takes a whole number from 1 to 8/],
    [['--instances', '9'], /--instances takes a whole number from 1 to 8/],
    [['--minuets', '9'], /--help lists the options/],
  ])('refuses %j with a reason', (argv, why) => {
    expect(read(...argv)).toMatch(why);
  });
});
