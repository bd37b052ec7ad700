/** After a failover the store may name an earlier owner: the current owner retakes the session, unless it ends first. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { createMovingClient } from '../support/moving-client.ts';

const SLOW_MS = 300;
/** Sessions are checked every 5 s. */
const CHECKED_MS = 4_000;

/** A session of a; the store has an older state that b saved. */
async function restored() {
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

describe('a session that a failover assigned to an earlier owner', () => {
  it('the session is retaken and written again', async () => {
    const { rig, service, stored } = await restored();
    service.reassert();
    await rig.clock.advance(CHECKED_MS);
    expect(await stored()).toMatchObject({ owner: 'a/1', state: { utterances: [{ index: 0 }] } });
  });

  it.each(['reasserted', 'written'])(
    'a session that ends while it is retaken leaves no state (%s)',
    async (by) => {
      const { rig, client, speak, store, service, stored } = await restored();
      store.plan({ method: 'take', fault: { delayMs: SLOW_MS } });
      if (by === 'written') await speak('two');
      else service.reassert();
      await rig.clock.advance(by === 'written' ? 0 : CHECKED_MS);
      expect(store.calls('take')).toBe(1);
      client.close();
      await rig.clock.advance(2 * SLOW_MS);
      expect(await stored()).toBeUndefined();
    },
  );

  it('an abandoned session is not retaken', async () => {
    const { rig, store, service, stored } = await restored();
    store.plan({ method: 'load', fault: { delayMs: SLOW_MS } });
    service.reassert();
    await rig.clock.advance(CHECKED_MS);
    expect(store.calls('load')).toBe(1);
    service.abandonAll();
    await rig.clock.advance(2 * SLOW_MS);
    expect([store.calls('take'), (await stored())?.owner]).toEqual([0, 'b/1']);
  });

  it('a client that reconnects during the retake keeps its session', async () => {
    const { rig, client, store, service, stored } = await restored();
    store.plan(
      { method: 'touch', fault: { answerDelayMs: SLOW_MS } },
      { method: 'load', fault: { delayMs: SLOW_MS + 100 } },
    );
    service.reassert();
    await rig.clock.advance(CHECKED_MS);
    expect([store.calls('touch'), store.calls('load')]).toEqual([1, 0]);
    // The change is due before the store has replied to the retake.
    await client.connect(rig.instance('a'));
    await rig.clock.advance(5_000);
    expect(client.cutBy).toBeUndefined();
    expect(await stored()).toMatchObject({ owner: 'a/1', state: { utterances: [{ index: 0 }] } });
  });

  it('a release during the retake waits for the write', async () => {
    const { rig, client, service, stored } = await restored();
    let isSaved: boolean | undefined;
    void service.release(client.sessionId ?? '').then((answer) => {
      isSaved = answer;
    });
    await rig.quiet();
    expect(isSaved).toBe(true);
    expect(await stored()).toMatchObject({ owner: 'a/1', state: { utterances: [{ index: 0 }] } });
  });
});

it('an abandoned session is not written after a failed write', async () => {
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
