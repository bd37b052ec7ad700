/** A failover may lose the last save of a session. Its owner still has the state and hands it over. */
import { expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { createMovingClient } from '../support/moving-client.ts';

it.each(['there', 'away'])(
  'I5 order: a handover after a lost save reuses no number (client %s)',
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
    expect([client.received, client.complaints]).toEqual([['0:one', '1:two'], []]);
  },
);
