/** How often a session is written down for other instances. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig, SAVED_LATER_MS } from './instances-rig.ts';
import { createMovingClient, type MovingClient } from './moving-client.ts';

async function connected(rig: InstancesRig, how = {}): Promise<MovingClient> {
  const client = createMovingClient(how);
  await client.connect(rig.instance('a'));
  await rig.clock.advance(1_000);
  return client;
}

function speak(client: MovingClient, ...texts: string[]): void {
  for (const text of texts) {
    client.say(text);
    client.end();
    client.pump();
  }
}

const savesOf = (rig: InstancesRig) => rig.instance('a').store.calls('save');
const saved = async (rig: InstancesRig, client: MovingClient) =>
  (await rig.store.load(client.sessionId ?? ''))?.state;

describe('saving costs', () => {
  it('one write per utterance on its way, and one for all that follows soon after', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    expect(savesOf(rig)).toBe(1);
    speak(client, 'one');
    await rig.quiet();
    expect(savesOf(rig)).toBe(2);
    rig.jobs.job('one').finish();
    await rig.quiet();
    client.acknowledge();
    await rig.clock.advance(60_000);
    expect(savesOf(rig)).toBe(3);
    expect(await saved(rig, client)).toMatchObject({ deliverySeq: 1, utterances: [], nextIndex: 1 });
  });

  it('no delay for what changes again and again: it is written as late as after the first change', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    speak(client, 'one');
    await rig.quiet();
    rig.jobs.job('one').finish();
    await rig.quiet();
    const before = savesOf(rig);
    for (let times = 0; times < 6; times += 1) {
      client.acknowledge();
      await rig.clock.advance(1_000);
    }
    expect(savesOf(rig) - before).toBe(1);
  });

  it('one write per utterance in all while people speak: what was delivered goes with the next', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    const before = savesOf(rig);
    for (const text of ['one', 'two', 'three']) {
      speak(client, text);
      await rig.clock.advance(1_000);
      rig.jobs.job(text).finish();
      await rig.quiet();
      client.acknowledge();
      await rig.clock.advance(2_000);
    }
    expect(savesOf(rig) - before).toBe(3);
    await rig.clock.advance(SAVED_LATER_MS);
    expect(savesOf(rig) - before).toBe(4);
    expect(await saved(rig, client)).toMatchObject({ deliverySeq: 3, utterances: [] });
  });

  it('a write soon after each outcome for clients that do not acknowledge: they would be told it again', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig, { abilities: new Set() });
    speak(client, 'one');
    await rig.quiet();
    rig.jobs.job('one').finish();
    await rig.clock.advance(600);
    expect(await saved(rig, client)).toMatchObject({ utterances: [] });
  });

  it('no later for having waited: who leaves is written down soon, with all before', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    speak(client, 'one');
    await rig.quiet();
    rig.jobs.job('one').finish();
    await rig.quiet();
    client.acknowledge();
    await rig.clock.advance(1_000);
    const before = savesOf(rig);
    client.leave();
    await rig.clock.advance(600);
    expect(savesOf(rig) - before).toBe(1);
    expect(await saved(rig, client)).toMatchObject({ deliverySeq: 1, utterances: [] });
    await rig.clock.advance(SAVED_LATER_MS);
    expect(savesOf(rig) - before).toBe(1);
  });

  it('one write at a time, with everything that came meanwhile in the next', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 100 } });
    speak(client, 'one', 'two', 'three', 'four');
    await rig.clock.advance(100);
    expect([...client.accepted]).toEqual([0]);
    await rig.clock.advance(100);
    expect([...client.accepted]).toEqual([0, 1, 2, 3]);
    expect(savesOf(rig)).toBe(3);
  });

  it('nothing for clients that cannot resume, or where resuming is off', async () => {
    for (const [settings, how] of [
      [{}, { abilities: undefined }],
      [{ resumeTtlMs: 0 }, {}],
    ] as const) {
      const rig = createInstancesRig({ settings });
      rig.jobs.answerAll();
      const client = await connected(rig, how);
      speak(client, 'one');
      await rig.clock.advance(1_000);
      rig.jobs.job('one').finish();
      await rig.clock.advance(10_000);
      client.leave();
      await rig.clock.advance(1_000_000);
      expect(rig.instance('a').store.calls()).toBe(0);
    }
  });

  it('is tried again a few times a second while it fails, however much is said', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    const before = savesOf(rig);
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    for (let times = 0; times < 20; times += 1) {
      speak(client, `${times}`);
      await rig.clock.advance(50);
    }
    expect(savesOf(rig) - before).toBeLessThan(7);
  });
});
