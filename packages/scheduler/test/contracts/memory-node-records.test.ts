/** The board of one process keeps its law. */
import { createNodeRecords } from '../../src/adapters/memory/node-records.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { nodeRecordsContract } from './node-records.ts';

nodeRecordsContract('memory, where both are one', async (limits) => {
  const clock = createManualClock();
  const board = createNodeRecords({ clock, ...limits });
  return { here: board, there: board, advance: clock.advance, edgeMs: 1, close: async () => undefined };
});
