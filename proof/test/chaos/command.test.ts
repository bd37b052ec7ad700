/** The command line of the chaos run: its meaning, its errors, and that a replay is the same run. */
import { describe, expect, it } from 'vitest';
import { type ChaosCommand, readCommand, replayOf } from '../../src/chaos/command.ts';
import { NEEDS_OTHERS, PLANNED } from '../../src/chaos/plan-faults.ts';

const read = (...argv: readonly string[]) => readCommand(argv, () => 77);
const understood = (...argv: readonly string[]): ChaosCommand => {
  const command = read(...argv);
  if (typeof command === 'string') throw new Error(command);
  return command;
};

describe('the command line of chaos', () => {
  it('injects all faults for a minute with a random seed by default', () => {
    expect(understood()).toMatchObject({
      seed: 77,
      seconds: 60,
      load: 1,
      rooms: 0,
      durability: 'primary',
      without: [],
      isSingleInstance: false,
      isJson: false,
    });
    expect(understood('--seed', '5', '--seconds', '20', '--json', '--keep-history', 'h.jsonl')).toMatchObject(
      {
        seed: 5,
        seconds: 20,
        isJson: true,
        historyPath: 'h.jsonl',
      },
    );
  });

  it('injects only the selected faults', () => {
    const { without } = understood('--only', 'master_killed, node_cut,store_down', '--without', 'store_down');
    expect(PLANNED.filter((kind) => !without.includes(kind))).toEqual(['master_killed', 'node_cut']);
    expect(understood('--alone').without).toEqual(expect.arrayContaining([...NEEDS_OTHERS]));
  });

  it.each([
    [['--seconds', 'long'], /--seconds takes a number/],
    [['--seconds', '1'], /--seconds takes a number/],
    [['--seed', '1.5'], /--seed takes a whole number/],
    [['--load', '0'], /--load takes a number/],
    [['--rooms', '1.5'], /--rooms takes a whole number/],
    [['--durability', 'both'], /--durability takes primary or replica/],
    [['--alone', '--durability', 'replica'], /--durability needs Redis/],
    [['--only', 'meteor'], /--only: there is no fault "meteor"/],
    [['--without', 'node_cut,meteor'], /--without: there is no fault "meteor"/],
    [['--sekonds', '9'], /--help lists the options/],
  ])('refuses %j with a reason', (argv, why) => {
    expect(read(...argv)).toMatch(why);
  });

  it.each([
    [['--load', '0.5']],
    [['--rooms', '2', '--durability', 'replica']],
    [['--only', 'master_killed,node_cut']],
    [['--alone', '--without', 'client_cut']],
  ])('prints the command that repeats %j', (argv: readonly string[]) => {
    const command = understood('--seed', '9', '--seconds', '12', ...argv);
    const again = replayOf(command).split(' ').slice(4);
    expect(understood(...again)).toEqual(command);
  });
});
