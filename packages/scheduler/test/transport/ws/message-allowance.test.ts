import { describe, expect, it } from 'vitest';
import { createMessageAllowance } from '../../../src/transport/ws/message-allowance.ts';
import { createSteppedClock } from './stepped-clock.ts';

describe('message allowance of a connection', () => {
  it('one error per excess; a quiet second resets the count', () => {
    const clock = createSteppedClock();
    const take = createMessageAllowance({ clock, rate: { spend: () => false }, maxDropped: 3 });
    expect([take(), take(), take(), take()]).toEqual(['limited', 'dropped', 'dropped', 'abused']);
    clock.advance(1_001);
    expect([take(), take()]).toEqual(['limited', 'dropped']);
  });
});
