/** A third instance takes a session while the second one fetches it: the client of the second gets an answer. */
import { expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { createMovingClient } from '../support/moving-client.ts';
import { opening } from '../support/session-rig.ts';

it('a session that is taken during its fetch is unavailable', async () => {
  const rig = createInstancesRig({ names: ['a', 'b', 'c'] });
  rig.jobs.answerAll();
  const client = createMovingClient();
  await client.connect(rig.instance('a'));
  for (const text of ['one', 'two']) {
    client.say(text);
    client.end();
    client.pump();
    await rig.quiet();
  }
  await rig.clock.advance(1_000);
  const { resume } = client;
  rig.kill('a');
  rig.jobs.job('one').fail();
  // The record of the second cannot be read: b retries, while its save of the first outcome is in progress.
  rig.jobs.hide('two', true);
  const [b, c] = [rig.instance('b'), rig.instance('c')];
  b.store.plan({ method: 'save', fault: { delayMs: 1_600 } });
  const resuming = client.connect(b);
  await rig.clock.advance(1_500);
  await rig.quiet();
  expect(b.store.calls('take')).toBe(1);
  rig.isolate('b');
  const link = { send() {}, replaced() {}, abandoned() {} };
  const third = c.service.open(opening({ resume }), link);
  await rig.clock.advance(5_000);
  await third;
  expect(b.service.counts().sessions).toBe(0);
  expect([await resuming, client.sent]).toEqual(['unavailable', []]);
});
