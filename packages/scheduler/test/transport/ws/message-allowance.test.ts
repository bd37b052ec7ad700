import { describe, expect, it } from 'vitest';
import { createMessageAllowance } from '../../../src/transport/ws/message-allowance.ts';
import { createSteppedClock } from './stepped-clock.ts';

describe('the allowance of a connection', () => {
  it('tells once per run of excess and forgives after a quiet second', () => {
    const clock = createSteppedClock();
    const take = createMessageAllowance({ clock, rate: { spend: () => false }, maxDropped: 3 });
    expect([take(), take(), take(), take()]).toEqual(['limited', 'dropped', 'dropped', 'abused']);
    clock.advance(1_001);
    expect([take(), take()]).toEqual(['limited', 'dropped']);
  });
});
