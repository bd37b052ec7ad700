/** Statistics of instances keep their law in memory. */
import { createStatsBoard } from '../../src/adapters/memory/stats-board.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { statsBoardContract } from './stats-board.ts';

statsBoardContract('memory', async () => {
  const clock = createManualClock();
  return {
    advance: clock.advance,
    edgeMs: 1,
    close: async () => undefined,
    board: createStatsBoard({ clock }),
  };
});
