/** A story contains what is needed to understand a violation, and nothing else. */
import { describe, expect, it } from 'vitest';
import { printStory } from '../../src/checker/print.ts';
import { storyOf } from '../../src/checker/story.ts';
import type { Violation } from '../../src/checker/violation.ts';
import { delivered, done, fault, healed, imagine, oneJob, type Step, started, up } from './build-history.ts';

const about = (at: number, ...names: string[]): Violation => ({
  invariant: 'I1 no oversell',
  at,
  message: 'it went wrong',
  about: names,
});
const story = (violation: Violation, ...steps: readonly Step[]) => storyOf(imagine(...steps), violation);

describe('a story', () => {
  it('of a request has its job and no other', () => {
    const lines = story(about(9_000, 'r'), up('n'), ...oneJob('r', 'j'), ...oneJob('q', 'k'));
    expect(lines.map(({ kind }) => kind)).toEqual([
      'asked',
      'accepted',
      'assigned',
      'started',
      'ended',
      'outcome',
      'looked_up',
    ]);
  });

  it('of a job has its request', () => {
    expect(story(about(9_000, 'k'), ...oneJob('r', 'j'), ...oneJob('q', 'k'))).toHaveLength(7);
  });

  it('of a node has the jobs it had at that time', () => {
    const lines = story(
      about(600, 'n'),
      up('n'),
      started('n', 'old'),
      done('n', 'old'),
      started('n', 'a'),
      started('n', 'b'),
      started('n', 'c'),
      started('n', 'later'),
    );
    expect(lines.map((each) => ('job' in each ? each.job : each.kind))).toEqual(['node_up', 'a', 'b', 'c']);
  });

  it('of a session has its last deliveries', () => {
    const many = Array.from({ length: 20 }, (_, index) => delivered(index + 1, index));
    const lines = story(about(2_000, 's'), ...many);
    expect(lines.at(-1)).toMatchObject({ seq: 20 });
    expect(lines).toHaveLength(6);
  });

  it('has the faults that had an effect in its time, with their ends', () => {
    const lines = story(
      about(101_000, 'r'),
      [1_000, fault(1, 'store_down')],
      [2_000, healed(1)],
      [99_000, fault(2, 'shard_frozen')],
      [99_000, fault(4, 'node_killed', 'm')],
      [99_000, fault(5, 'node_killed', 'n')],
      ...oneJob('r', 'j').map((step, at) => [100_000 + at, step] as const),
      [100_500, healed(2)],
      [200_000, fault(3, 'store_down')],
    );
    expect(lines.flatMap((each) => ('fault' in each ? [`${each.kind} ${each.fault}`] : []))).toEqual([
      'fault_began 2',
      'fault_began 5',
      'fault_ended 2',
    ]);
  });

  it('is printed as a list of events, its end first', () => {
    const text = printStory(imagine(up('n'), ...oneJob('r', 'j')), about(9_000, 'r'));
    expect(text).toMatch(/^The story of "it went wrong":/);
    expect(text).toMatch(/0\.20 s {2}asked +client=c request=r words=words of r/);
    const many = imagine(...Array.from({ length: 100 }, () => started('n', 'j')));
    expect(printStory(many, about(99_000, 'j')).split('\n')).toHaveLength(82);
  });
});
