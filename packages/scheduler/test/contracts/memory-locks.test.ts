/** The in-memory locks obey the contract. */
import { createLocks } from '../../src/adapters/memory/locks.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { locksContract } from './locks.ts';

locksContract('memory', async () => {
  const clock = createManualClock();
  const timed = { advance: clock.advance, edgeMs: 1, close: async () => undefined };
  return { ...timed, locks: createLocks({ clock }), others: createLocks({ clock }) };
});
