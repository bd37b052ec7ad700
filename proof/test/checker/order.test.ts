/** The order rule finds exactly what breaks it. */
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkGaps } from '../../src/checker/gaps.ts';
import { checkOrder } from '../../src/checker/order.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  asked,
  delivered,
  done,
  fault,
  healed,
  imagine,
  missing,
  result,
  type Step,
} from './build-history.ts';

const check = (...steps: readonly Step[]) => checkOrder(gatherFacts(imagine(...steps)), ALLOWANCES);

const heardOf = (index: number): Step => ({
  kind: 'accepted',
  client: 'c',
  request: 'r',
  job: 'job-r',
  session: 's',
  index,
});

describe('I5 in a history', () => {
  it('holds for numbers without gaps and utterances in order', () => {
    const { violations, counts } = check(delivered(1, 0), delivered(2, 1), delivered(3, 4));
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ sessions: 1, 'repeated deliveries': 0 });
  });

  it('drops repeats by their number, and counts them', () => {
    const { violations, counts } = check(
      delivered(1, 0),
      delivered(2, 1),
      delivered(1, 0),
      delivered(2, 1),
      delivered(3, 2),
    );
    expect(violations).toEqual([]);
    expect(counts['repeated deliveries']).toBe(2);
  });

  it('is broken by a repeated missing result with another reason or outcome', () => {
    const again = (what: string, ...before: Step[]) =>
      check(...before, delivered(1, 0, 'missing_result gap_timeout'), delivered(1, 0, what));
    const failover = [fault(1, 'shard_failed_over', 'shard-0'), healed(1)];
    expect(again('missing_result job_failed').violations).toHaveLength(1);
    const excused = again('missing_result job_failed', ...failover);
    expect(excused.violations).toEqual([]);
    expect(excused.counts['missing results repeated with another reason after a failover']).toBe(1);
    expect(again('translation_result job-1', ...failover).violations).toHaveLength(1);
  });

  it('is broken by a skipped utterance, unless a failover lost its number', () => {
    const over = (again: number, ...before: Step[]) =>
      check(...before, heardOf(0), heardOf(again), delivered(1, 7), delivered(2, 8));
    const failover = [fault(1, 'shard_failed_over', 'shard-0'), healed(1)];
    expect(over(7).violations).toHaveLength(1);
    expect(over(0, ...failover).violations).toHaveLength(1);
    const excused = over(7, ...failover);
    expect(excused.violations).toEqual([]);
    expect(excused.counts['utterances renumbered after a failover']).toBe(1);
  });

  it('is broken by a gap in the numbers', () => {
    expect(check(delivered(1, 0), delivered(3, 2)).violations).toMatchObject([
      { invariant: 'I5 order', message: 's of c got number 3 where 2 was next' },
    ]);
  });

  it('is broken by a first number that is not 1', () => {
    expect(check(delivered(2, 0)).violations).toHaveLength(1);
  });

  it('is broken by a number that comes late', () => {
    expect(check(delivered(1, 0), delivered(3, 2), delivered(2, 1)).violations.length).toBeGreaterThan(1);
  });

  it('is broken by utterances in the wrong order', () => {
    expect(check(delivered(1, 1), delivered(2, 0)).violations).toHaveLength(1);
  });

  it('is broken by an utterance with two outcomes', () => {
    expect(check(delivered(1, 0), delivered(2, 0)).violations.length).toBeGreaterThan(0);
  });

  it('is broken by a repeated number with other contents', () => {
    expect(check(delivered(1, 0, 'result of j'), delivered(1, 0, 'missing')).violations).toHaveLength(1);
    expect(check(delivered(1, 0), delivered(1, 1)).violations).toHaveLength(1);
  });

  it('is judged per session', () => {
    expect(
      check(delivered(1, 0, 'x', 's'), delivered(1, 0, 'x', 't'), delivered(2, 1, 'x', 's')).violations,
    ).toEqual([]);
  });

  it('is broken across sessions by a later utterance that is delivered first', () => {
    const { violations } = check(asked('r'), asked('q'), delivered(1, 0), missing('q'), missing('r'));
    expect(violations).toMatchObject([{ about: ['c', 'r', 'q'] }]);
  });

  it('does not apply without a session', () => {
    expect(check(asked('r'), asked('q'), missing('q'), missing('r')).violations).toEqual([]);
  });

  it('is broken by an accepted utterance that was skipped', () => {
    const accepted = (index: number): Step => ({
      kind: 'accepted',
      client: 'c',
      request: `r${index}`,
      job: `j${index}`,
      session: 's',
      index,
    });
    const said = [accepted(0), accepted(1), accepted(2)];
    expect(check(...said, delivered(1, 0), delivered(2, 2)).violations).toMatchObject([
      { message: 's of c got utterance 2 and never 1, which had been accepted' },
    ]);
    expect(check(...said, delivered(1, 0), delivered(2, 1)).violations).toEqual([]);
  });
});

describe('a gap', () => {
  const LATEST = ALLOWANCES.gapMs + ALLOWANCES.graceMs;
  const check = (toldAt: number, ...steps: readonly Step[]) =>
    checkGaps(
      gatherFacts(
        imagine(
          asked('r'),
          [1_000, done('n', 'j')],
          ...steps,
          [1_000 + toldAt, result('r', 'n', 'j')],
          delivered(1, 0),
        ),
      ),
      ALLOWANCES,
    );

  it('is closed in time, and finished results are delivered then', () => {
    expect(check(LATEST).violations).toEqual([]);
    expect(check(LATEST).counts['longest from done to delivered, ms']).toBe(LATEST);
    expect(check(LATEST + 1).violations).toMatchObject([{ invariant: 'I5 order', about: ['r', 'c'] }]);
  });

  it('is not reported to clients that are away', () => {
    const away = [[2_000, fault(1, 'client_cut', 'c')] as const, [3_000, healed(1)] as const];
    expect(check(LATEST + 1, ...away).violations).toEqual([]);
  });
});
