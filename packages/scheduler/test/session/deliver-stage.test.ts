/** How long an outcome waits for its turn is the last stage of its job. */
import { expect, it } from 'vitest';
import { createSessionRig } from './session-rig.ts';

it('an outcome that has to wait for an earlier one is measured with the wait, one whose turn it is with none', async () => {
  const { open, dispatcher, clock, observed } = createSessionRig();
  const client = open();
  client.speak('slow');
  client.speak('quick');
  await dispatcher.job('slow').dispatch();
  await dispatcher.job('quick').succeed();
  await clock.advance(2_500);
  await dispatcher.job('slow').succeed();
  expect(client.link.outcomes()).toEqual(['0:slow', '1:quick']);
  const waits = observed.filter(([name]) => name === 'scheduler_stage_seconds deliver');
  expect(waits.map(([, seconds]) => seconds)).toEqual([0, 2.5]);
});
