/** Dead letters and figures of instances keep their law in memory. */
import { createDeadLetters, createDeadShelf } from '../../src/adapters/memory/dead-letters.ts';
import { createInbox } from '../../src/adapters/memory/inbox.ts';
import { createInstanceFigures } from '../../src/adapters/memory/instance-figures.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { deadLettersContract } from './dead-letters.ts';
import { instanceFiguresContract } from './instance-figures.ts';

const harness = () => {
  const clock = createManualClock();
  return { clock, timed: { advance: clock.advance, edgeMs: 1, close: async () => undefined } };
};

deadLettersContract('memory', async (limits) => {
  const { clock, timed } = harness();
  const shelf = createDeadShelf({ clock, ...limits });
  const inbox = createInbox({ clock, shelf, ...limits });
  return { ...timed, inbox, deadLetters: createDeadLetters({ clock, shelf, inbox, ...limits }) };
});

instanceFiguresContract('memory', async () => {
  const { clock, timed } = harness();
  return { ...timed, figures: createInstanceFigures({ clock }) };
});
