/** After a failover the store may name an owner from before: a session is taken back from it, unless it ends meanwhile. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { createMovingClient } from './moving-client.ts';

const SLOW_MS = 300;
/** Sessions are looked at every 5 s; the first of those is over when they are reasserted. */
const LOOKED_MS = 4_000;

/** A session of a, of which the store has an older state, as b saved it once. */
async function forgotten() {
  const rig = createInstancesRig();
  rig.jobs.answerAll();
  const client = createMovingClient();
  await client.connect(rig.instance('a'));
  await rig.clock.advance(1_000);
  const sessionId = client.sessionId ?? '';
  const early = await rig.store.load(sessionId);
  const speak = async (text: string) => {
    client.say(text);
    client.end();
    client.pump();
    await rig.quiet();
  };
  await speak('one');
  await rig.store.remove(sessionId, 'a/1');
  if (early !== undefined) await rig.store.save(early.state, 'b/1', 10_000_000);
  const { store, service } = rig.instance('a');
  return { rig, client, speak, store, service, stored: () => rig.store.load(sessionId) };
}

describe('a session that a failover gave to an owner from before', () => {
  it('is taken back and written again', async () => {
    const { rig, service, stored } = await forgotten();
    service.reassert();
    await rig.clock.advance(LOOKED_MS);
    expect(await stored()).toMatchObject({ owner: 'a/1', state: { utterances: [{ index: 0 }] } });
  });

  it.each(['reasserted', 'written'])(
    'is not left behind if it ends while it is taken back, found out when it was %s',
    async (by) => {
      const { rig, client, speak, store, service, stored } = await forgotten();
      store.plan({ method: 'take', fault: { delayMs: SLOW_MS } });
      if (by === 'written') await speak('two');
      else service.reassert();
      await rig.clock.advance(by === 'written' ? 0 : LOOKED_MS);
      expect(store.calls('take')).toBe(1);
      client.close();
      await rig.clock.advance(2 * SLOW_MS);
      expect(await stored()).toBeUndefined();
    },
  );

  it('is not taken back any more if its instance gave it up meanwhile', async () => {
    const { rig, store, service, stored } = await forgotten();
    store.plan({ method: 'load', fault: { delayMs: SLOW_MS } });
    service.reassert();
    await rig.clock.advance(LOOKED_MS);
    expect(store.calls('load')).toBe(1);
    service.abandonAll();
    await rig.clock.advance(2 * SLOW_MS);
    expect([store.calls('take'), (await stored())?.owner]).toEqual([0, 'b/1']);
  });

  it('stays with its client though that comes again while it is taken back', async () => {
    const { rig, client, store, service, stored } = await forgotten();
    store.plan(
      { method: 'touch', fault: { answerDelayMs: SLOW_MS } },
      { method: 'load', fault: { delayMs: SLOW_MS + 100 } },
    );
    service.reassert();
    await rig.clock.advance(LOOKED_MS);
    expect([store.calls('touch'), store.calls('load')]).toEqual([1, 0]);
    // What that changes is due to be written before the store has said what it has.
    await client.connect(rig.instance('a'));
    await rig.clock.advance(5_000);
    expect(client.cutBy).toBeUndefined();
    expect(await stored()).toMatchObject({ owner: 'a/1', state: { utterances: [{ index: 0 }] } });
  });

  it('is let go only when it is written again: whoever asked for it is told so', async () => {
    const { rig, client, service, stored } = await forgotten();
    let isSaved: boolean | undefined;
    void service.release(client.sessionId ?? '').then((answer) => {
      isSaved = answer;
    });
    await rig.quiet();
    expect(isSaved).toBe(true);
    expect(await stored()).toMatchObject({ owner: 'a/1', state: { utterances: [{ index: 0 }] } });
  });
});

it('nothing is written any more of a session that its instance gave up while a write of it failed', async () => {
  const rig = createInstancesRig();
  rig.jobs.answerAll();
  const client = createMovingClient();
  const { store, service } = rig.instance('a');
  await client.connect(rig.instance('a'));
  await rig.clock.advance(1_000);
  store.plan({ method: 'save', fault: 'throw' });
  client.say('one');
  client.end();
  client.pump();
  service.abandonAll();
  const before = store.calls('save');
  await rig.clock.advance(10_000);
  expect([store.struck('save') > 0, store.calls('save') - before]).toEqual([true, 0]);
});
