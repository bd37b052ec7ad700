/** A failover may lose what was saved last of a session. Its owner knows it all the same, and hands it over. */
import { expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { createMovingClient } from './moving-client.ts';

it.each(['there', 'away'])(
  'I5 order: no number is given twice when a session moves whose client is %s, though the store has lost the end of it',
  async (is) => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = createMovingClient();
    const speak = async (text: string) => {
      client.say(text);
      client.end();
      client.pump();
      await rig.quiet();
    };
    await client.connect(rig.instance('a'));
    await rig.clock.advance(1_000);
    const sessionId = client.sessionId ?? '';
    const early = await rig.store.load(sessionId);
    await speak('one');
    rig.jobs.job('one').finish();
    await rig.quiet();
    client.acknowledge();
    if (is === 'away') client.leave();
    await rig.clock.advance(10_000);
    await rig.store.remove(sessionId, 'a/1');
    if (early !== undefined) await rig.store.save(early.state, 'a/1', 600_000);
    expect(await client.connect(rig.instance('b'))).toBe('opened');
    await speak('two');
    rig.jobs.job('two').finish();
    await rig.quiet();
    expect([client.heard, client.complaints]).toEqual([['0:one', '1:two'], []]);
  },
);
