/** The last stage of a job is the wait of its outcome for earlier ones. */
import { expect, it } from 'vitest';
import { createSessionRig } from '../support/session-rig.ts';

it('the deliver stage measures how long an outcome waits for earlier ones', async () => {
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
