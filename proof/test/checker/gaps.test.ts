/** How long a finished result may be held back: only faults of the instances involved make it longer. */
import { describe, expect, it } from 'vitest';
import type { UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkGaps } from '../../src/checker/gaps.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  accepted,
  asked,
  delivered,
  done,
  fault,
  healed,
  imagine,
  result,
  type Step,
} from './build-history.ts';

const LATEST = ALLOWANCES.gapMs + ALLOWANCES.graceMs;
const { recoverMs } = ALLOWANCES;
const by = (step: UntimedEvent, instance: string): UntimedEvent => ({ ...step, instance }) as UntimedEvent;

/** Done at 1,000, with a client of instance `i`, and delivered by `teller` so much later. */
const check = (ms: number, between: readonly Step[] = [], teller = 'i', isExact = true) =>
  checkGaps(
    gatherFacts(
      imagine(
        [0, { kind: 'instance_up', instance: 'i' }],
        [0, { kind: 'instance_up', instance: 'k' }],
        [100, asked('r')],
        [200, by(accepted('r', 'j'), 'i')],
        [1_000, done('n', 'j')],
        ...between,
        [1_000 + ms, by(delivered(1, 0), teller)],
        [1_000 + ms, result('r', 'n', 'j')],
      ),
    ),
    { ...ALLOWANCES, isExact },
  );

const lasting = (what: Parameters<typeof fault>[1], target: string, from: number, to: number): Step[] => [
  [from, fault(1, what, target)],
  [to, healed(1)],
];

describe('a finished result', () => {
  it('is delivered when the gap is closed at the latest', () => {
    expect(check(LATEST)).toMatchObject({ violations: [], judged: { 'I5 order': 1 } });
    expect(check(LATEST + 1).violations).toHaveLength(1);
  });

  it('waits while the store or the instance of its client is away', () => {
    for (const fault of [
      lasting('shard_frozen', 's', 2_000, 5_000),
      lasting('instance_frozen', 'i', 2_000, 5_000),
    ]) {
      expect(check(LATEST + 3_000, fault).violations).toEqual([]);
      expect(check(LATEST + 3_001, fault).violations).toHaveLength(1);
    }
  });

  it('does not wait for other instances', () => {
    for (const what of ['instance_frozen', 'instance_killed', 'instance_cut_off'] as const)
      expect(check(LATEST + 1, lasting(what, 'k', 2_000, 9_000)).violations).toHaveLength(1);
  });

  it('is not held back for long by faults elsewhere', () => {
    const faults = Array.from({ length: 6 }, (_, at): Step[] => [
      [2_000 + 14_000 * at, fault(at, 'instance_frozen', 'k')],
      [8_000 + 14_000 * at, healed(at)],
    ]).flat();
    expect(check(90_000, faults).violations).toHaveLength(1);
  });

  it('waits for the gap again if its client moved to another instance', () => {
    const killed = lasting('instance_killed', 'i', 4_000, 9_000);
    const moved = [7_000, by(accepted('q', 'k'), 'k')] as const;
    const story = (ms: number, ...before: readonly Step[]) => check(ms, before, 'k').violations;
    const [began, ended] = killed as [Step, Step];
    expect(story(6_000 + LATEST, began, moved, ended)).toEqual([]);
    expect(story(6_001 + LATEST, began, moved, ended)).toHaveLength(1);
    // Without a reason to move there was no reason to wait.
    expect(story(LATEST + 1, moved)).toHaveLength(1);
    expect(story(LATEST + 1, [3_000, fault(1, 'instance_killed', 'x')], moved)).toHaveLength(1);
  });

  it('is not in time only because another instance delivers it', () => {
    const story = (ms: number) => check(ms, lasting('instance_killed', 'i', 4_000, 9_000), 'k').violations;
    expect(story(8_000 + recoverMs + LATEST)).toEqual([]);
    expect(story(8_001 + recoverMs + LATEST)).toHaveLength(1);
  });

  it('may wait for any instance if the client’s instance is unknown', () => {
    const elsewhere = lasting('instance_killed', 'x', 2_000, 4_000);
    expect(check(LATEST + 2_000 + recoverMs, elsewhere, 'i', false).violations).toEqual([]);
    expect(check(LATEST + 2_001 + recoverMs, elsewhere, 'i', false).violations).toHaveLength(1);
  });
});
