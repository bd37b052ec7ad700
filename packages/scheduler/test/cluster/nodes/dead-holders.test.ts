/** Dead holders are remembered up to a limit. */
import { expect, it } from 'vitest';
import { createDeadHolders } from '../../../src/cluster/nodes/dead-holders.ts';

const MOST_DEAD = 1_000;

it('I11 bounded: forgets the oldest dead holder at the limit', () => {
  const dead = createDeadHolders();
  const holder = (number: number) => ({ instanceId: `i-${number}`, incarnation: '1' });
  const isHeld = (number: number) => dead.isOfDeadHolder({ channel: 'socket', holder: holder(number) });
  for (let number = 0; number < MOST_DEAD; number += 1) dead.note(holder(number));
  expect(isHeld(0)).toBe(true);
  dead.note(holder(MOST_DEAD));
  expect([isHeld(0), isHeld(1), isHeld(MOST_DEAD)]).toEqual([false, true, true]);
});
