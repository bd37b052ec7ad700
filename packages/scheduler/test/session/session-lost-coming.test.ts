/** A session may be taken by a third instance while it is on its way to the second: its client there is not left without an answer. */
import { expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { createMovingClient } from './moving-client.ts';
import { opening } from './session-rig.ts';

it('a session that is taken away while it is fetched is said to be unavailable', async () => {
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
  // What became of the second cannot be read: b goes on asking, with what it knows of the first on its way to the store.
  rig.jobs.hide('two', true);
  const [b, c] = [rig.instance('b'), rig.instance('c')];
  b.store.plan({ method: 'save', fault: { delayMs: 1_600 } });
  const coming = client.connect(b);
  await rig.clock.advance(1_500);
  await rig.quiet();
  expect(b.store.calls('take')).toBe(1);
  rig.isolate('b');
  const link = { send() {}, replaced() {}, abandoned() {} };
  const third = c.service.open(opening({ resume }), link);
  await rig.clock.advance(5_000);
  await third;
  expect(b.service.counts().sessions).toBe(0);
  expect([await coming, client.sent]).toEqual(['unavailable', []]);
});
