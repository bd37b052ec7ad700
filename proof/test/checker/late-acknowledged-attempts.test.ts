/** The fencing rule: an abandoned attempt counts again if its node acknowledges it before its successor is recorded. */
import { expect, it } from 'vitest';
import type { UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkFencing } from '../../src/checker/fencing.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { asked, assigned, done, imagine, result, type Step } from './build-history.ts';

const COUNTED = 'results of attempts resumed while their successors were under way';
const acknowledged: UntimedEvent = { kind: 'acknowledged', node: 'n', job: 'j', attempt: 1 };
const calledOff = (node: string): UntimedEvent => ({ kind: 'cancel_received', node, job: 'j' });
const CAME_AT = 10_000;
const DONE_AT = 18_000;
/** Its message had not been sent before: it expires. */
const SENT_AT = CAME_AT - ALLOWANCES.messageMs;

/** The first attempt is done, and its result delivered, long after the second had reached its node. */
const check = (...between: readonly (readonly [number, UntimedEvent])[]) => {
  const steps: readonly Step[] = [
    asked('r'),
    [200, assigned('n', 'j')],
    ...[...between, [CAME_AT, assigned('m', 'j', 2)] as const, [DONE_AT, done('n', 'j')] as const].sort(
      ([a], [b]) => a - b,
    ),
    result('r', 'n', 'j'),
  ];
  return checkFencing(gatherFacts(imagine(...steps)), ALLOWANCES);
};

it('holds, and is counted, if the successor is cancelled at its arrival', () => {
  const { violations, counts } = check([CAME_AT - 100, acknowledged], [CAME_AT + 10, calledOff('m')]);
  expect([violations, counts[COUNTED]]).toEqual([[], 1]);
  const latest = CAME_AT + ALLOWANCES.flightMs;
  expect(check([CAME_AT - 100, acknowledged], [latest, calledOff('m')]).violations).toEqual([]);
});

it.each<[string, ...(readonly [number, UntimedEvent])[]]>([
  ['when the message may just have left', [SENT_AT, acknowledged]],
  ['when that is called off', [CAME_AT + 10, acknowledged]],
  ['as soon as it comes, and once more on the way', [250, acknowledged], [CAME_AT - 100, acknowledged]],
])('holds if the first is acknowledged %s', (_, ...acknowledgements) => {
  const { violations, counts } = check(...acknowledgements, [CAME_AT + 10, calledOff('m')]);
  expect([violations, counts[COUNTED]]).toEqual([[], 1]);
});

it.each<[string, readonly (readonly [number, UntimedEvent])[]]>([
  ['is never called off', [[CAME_AT - 100, acknowledged]]],
  [
    'is called off only later',
    [
      [CAME_AT - 100, acknowledged],
      [CAME_AT + ALLOWANCES.flightMs + 1, calledOff('m')],
    ],
  ],
  [
    'is called off when the first is done',
    [
      [CAME_AT - 100, acknowledged],
      [DONE_AT + 1, calledOff('m')],
    ],
  ],
  [
    'was called off before it came',
    [
      [CAME_AT - 100, acknowledged],
      [CAME_AT - 1, calledOff('m')],
    ],
  ],
  [
    'goes on, and the first is called off',
    [
      [CAME_AT - 100, acknowledged],
      [CAME_AT + 10, calledOff('n')],
    ],
  ],
  ['is called off although the first was not acknowledged', [[CAME_AT + 10, calledOff('m')]]],
  [
    'is called off before the first is acknowledged',
    [
      [CAME_AT + 10, calledOff('m')],
      [CAME_AT + 11, acknowledged],
    ],
  ],
  [
    'is called off although the first had long been acknowledged',
    [
      [250, acknowledged],
      [CAME_AT + 400, calledOff('m')],
    ],
  ],
  [
    'is called off, and the first was acknowledged right before its message can have left',
    [
      [SENT_AT - 1, acknowledged],
      [CAME_AT + 10, calledOff('m')],
    ],
  ],
  [
    'is called off between two acknowledgements of the first, both out of time',
    [
      [250, acknowledged],
      [CAME_AT + 10, calledOff('m')],
      [CAME_AT + 11, acknowledged],
    ],
  ],
  [
    'is called off, and another one is not',
    [
      [CAME_AT - 100, acknowledged],
      [CAME_AT + 10, calledOff('m')],
      [CAME_AT + 50, assigned('o', 'j', 3)],
    ],
  ],
])('is broken if the successor %s', (_, between) => {
  const { violations, counts } = check(...between);
  expect([violations.length, counts[COUNTED]]).toEqual([1, 0]);
});
