/** The result rule finds exactly the finished work that was reported as missing. */
import { describe, expect, it } from 'vitest';
import type { UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkResults } from '../../src/checker/results.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  accepted,
  asked,
  assigned,
  done,
  fault,
  healed,
  imagine,
  oneJob,
  type Step,
  started,
  up,
} from './build-history.ts';

const check = (...steps: readonly Step[]) => checkResults(gatherFacts(imagine(...steps)), ALLOWANCES);
const { deadlineMs, flightMs } = ALLOWANCES;
const acknowledging: Step = [0, { kind: 'node_up', node: 'n', slots: 1, style: 'sdk', acknowledges: true }];
const missing: UntimedEvent = {
  kind: 'outcome',
  client: 'c',
  request: 'r',
  job: 'j',
  missing: 'JOB_TIMEOUT',
};
const work: readonly Step[] = [
  [5_000, asked('r')],
  [5_010, accepted('r', 'j')],
  [5_020, assigned('n', 'j')],
  [5_020, started('n', 'j')],
];
const doneAt = (at: number): Step => [at, done('n', 'j')];

describe('finished work', () => {
  it('is delivered', () => {
    const { violations, counts, judged } = check(up('n'), ...oneJob());
    expect(violations).toEqual([]);
    expect(counts).toEqual({ 'results discarded': 0 });
    expect(judged).toEqual({ 'I3 one outcome': 1 });
  });

  it('is not reported as missing without a fault', () => {
    const { violations } = check([0, up('n')], ...work, doneAt(5_300), [deadlineMs, missing]);
    expect(violations).toMatchObject([{ invariant: 'I3 one outcome', about: ['r', 'j'] }]);
    expect(violations[0]?.message).toContain('"JOB_TIMEOUT"');
  });

  it('is found by the job of its request if the outcome names none', () => {
    const { job: _, ...unnamed } = missing as Extract<UntimedEvent, { kind: 'outcome' }>;
    expect(
      check([0, up('n')], ...work, doneAt(5_300), [deadlineMs, unnamed as UntimedEvent]).violations,
    ).toHaveLength(1);
  });

  it('may be too late: after the deadline, or after the gap was closed', () => {
    const late = 5_010 + deadlineMs - flightMs;
    expect(check([0, up('n')], ...work, doneAt(late), [late + 5_000, missing]).violations).toHaveLength(1);
    expect(check([0, up('n')], ...work, doneAt(late + 1), [late + 5_000, missing]).violations).toEqual([]);
    expect(check([0, up('n')], ...work, doneAt(9_000), [9_100, missing]).violations).toEqual([]);
  });

  it('counts only if it was the last attempt', () => {
    const next = [5_400, assigned('m', 'j', 2)] as const;
    expect(check([0, up('n')], ...work, next, doneAt(5_500), [20_000, missing]).violations).toEqual([]);
  });

  it('counts only if its acknowledging node acknowledged it in time', () => {
    const story = (...acknowledgements: readonly Step[]) =>
      check(acknowledging, ...work, ...acknowledgements, doneAt(9_000), [20_000, missing]).violations;
    const at = (ms: number): Step => [ms, { kind: 'acknowledged', node: 'n', job: 'j', attempt: 1 }];
    expect(story(at(5_030))).toHaveLength(1);
    expect(story(at(8_500))).toEqual([]);
    expect(story()).toEqual([]);
  });

  it('is not judged for clients that left', () => {
    expect(
      check([0, up('n')], ...work, doneAt(5_300), [20_000, missing], { kind: 'client_left', client: 'c' })
        .violations,
    ).toEqual([]);
  });

  it.each([
    ['node_cut', 'n'],
    ['network_bad', '*'],
    ['instance_killed', 'i'],
    ['shard_frozen', 's'],
  ] as const)('may be lost on its way by %s, at that time', (what, target) => {
    const story = (at: number) =>
      check(
        [0, up('n')],
        ...(at < 5_000 ? [[at, fault(1, what, target)] as const, [at + 1, healed(1)] as const] : []),
        ...work,
        doneAt(5_300),
        ...(at > 5_000 ? [[at, fault(1, what, target)] as const, [at + 1, healed(1)] as const] : []),
        [20_000, missing],
      ).violations;
    expect(story(5_400)).toEqual([]);
    expect(story(5_301 + flightMs)).toHaveLength(1);
    expect(story(3_000)).toHaveLength(1);
  });

  it('is not lost by a fault of another node', () => {
    expect(
      check([0, up('n')], ...work, doneAt(5_300), [5_310, fault(1, 'node_killed', 'm')], [20_000, missing])
        .violations,
    ).toHaveLength(1);
  });

  it('may be lost by a failover after it was reported', () => {
    const story = (at: number) =>
      check([0, up('n')], ...work, doneAt(5_300), [at, fault(1, 'master_killed')], [20_000, missing])
        .violations;
    expect(story(5_300 + ALLOWANCES.lossMs)).toEqual([]);
    expect(story(5_301 + ALLOWANCES.lossMs + flightMs)).toHaveLength(1);
  });
});
