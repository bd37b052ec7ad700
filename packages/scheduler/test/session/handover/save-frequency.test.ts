/** How often a session is saved for other instances. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig, SAVED_LATER_MS } from '../support/instances-rig.ts';
import { createMovingClient, type MovingClient } from '../support/moving-client.ts';

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
  it('each utterance costs one write, and later changes one more', async () => {
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

  it('repeated changes do not delay the write', async () => {
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

  it('deliveries are saved with the next utterance', async () => {
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

  it('without acknowledgements each outcome is saved soon', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig, { abilities: new Set() });
    speak(client, 'one');
    await rig.quiet();
    rig.jobs.job('one').finish();
    await rig.clock.advance(600);
    expect(await saved(rig, client)).toMatchObject({ utterances: [] });
  });

  it('a disconnection is saved soon, with all earlier changes', async () => {
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

  it('one write at a time; later changes go with the next', async () => {
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

  it('sessions that cannot be resumed are not saved', async () => {
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

  it('failed saves are retried a few times a second', async () => {
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
