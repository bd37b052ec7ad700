/** I5: a missing outcome is final over instance deaths, whatever the job does: it is saved before it is delivered. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from '../support/instances-rig.ts';
import { createMovingClient, type MovingClient } from '../support/moving-client.ts';

/** A node has the first utterance. */
const GAP_MS = 30_000;

/** Two accepted utterances; only the second has a result. */
async function withGap(reportsReceived = true): Promise<{ rig: InstancesRig; client: MovingClient }> {
  const rig = createInstancesRig();
  rig.jobs.answerAll();
  const client = createMovingClient({}, 'client', reportsReceived);
  await client.connect(rig.instance('a'));
  for (const text of ['one', 'two']) client.utter(text);
  client.pump();
  await rig.quiet();
  expect([...client.accepted]).toEqual([0, 1]);
  rig.jobs.job('two').finish();
  return { rig, client };
}

describe('I5: a missing_result', () => {
  it('a missing outcome and later ones wait until it is saved', async () => {
    const { rig, client } = await withGap();
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    await rig.clock.advance(3 * GAP_MS);
    expect(client.received).toEqual([]);
    rig.instance('a').store.heal();
    await rig.clock.advance(1_000);
    expect(client.received).toEqual(['0!gap_timeout', '1:two']);
  });

  it('a missing outcome is delivered right after its save', async () => {
    const { rig, client } = await withGap();
    await rig.clock.advance(GAP_MS);
    await rig.quiet();
    expect(client.received).toEqual(['0!gap_timeout', '1:two']);
  });

  it('an unsaved missing outcome is replaced by a late result', async () => {
    const { rig, client } = await withGap();
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    rig.jobs.setDown(true);
    await rig.clock.advance(GAP_MS + 100);
    rig.kill('a');
    rig.jobs.setDown(false);
    rig.jobs.job('one').finish();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(3_000);
    expect(await connecting).toBe('opened');
    expect(client.received).toEqual(['0:one', '1:two']);
    expect(client.complaints).toEqual([]);
  });

  it('a delivered missing outcome stays, although its job has a result', async () => {
    const { rig, client } = await withGap(false);
    await rig.clock.advance(GAP_MS);
    await rig.quiet();
    rig.kill('a');
    rig.jobs.job('one').finish();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(3_000);
    expect(await connecting).toBe('opened');
    const outcomes = client.sent.filter(({ kind }) => kind === 'outcome');
    expect(outcomes).toMatchObject([
      { delivered: { deliverySeq: 1, outcome: { kind: 'missing', reason: 'gap_timeout' } } },
      { delivered: { deliverySeq: 2, outcome: { kind: 'result' } } },
    ]);
  });

  it('the missing outcome of a failed job is saved before delivery', async () => {
    const { rig, client } = await withGap();
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    rig.jobs.job('one').fail();
    await rig.clock.advance(5_000);
    expect(client.received).toEqual([]);
    rig.instance('a').store.heal();
    await rig.clock.advance(1_000);
    expect(client.received).toEqual(['0!job_failed', '1:two']);
  });
});

describe('I5: a delivery number', () => {
  it('a received number is not delivered again', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = createMovingClient();
    await client.connect(rig.instance('a'));
    for (const text of ['one', 'two']) client.utter(text);
    client.pump();
    await rig.quiet();
    rig.jobs.job('one').finish();
    await rig.quiet();
    rig.kill('a');
    // A failover lost its result.
    rig.jobs.job('one').withdraw();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(3_000);
    expect(await connecting).toBe('opened');
    rig.jobs.job('two').finish();
    await rig.quiet();
    const outcomes = client.sent.filter(({ kind }) => kind === 'outcome');
    expect(outcomes).toMatchObject([{ delivered: { deliverySeq: 2, outcome: { kind: 'result' } } }]);
    expect(client.received).toEqual(['0:one', '1:two']);
  });

  /** The client received three outcomes; a failover lost two of them, and the instance that sent them died. */
  async function withForgotten() {
    const rig = createInstancesRig({ names: ['a', 'b', 'c'] });
    rig.jobs.answerAll();
    const client = createMovingClient();
    await client.connect(rig.instance('a'));
    client.utter('one');
    client.pump();
    await rig.quiet();
    const early = (await rig.store.load(client.sessionId ?? ''))?.state;
    for (const text of ['two', 'three']) client.utter(text);
    client.pump();
    await rig.quiet();
    for (const text of ['one', 'two', 'three']) rig.jobs.job(text).finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one', '1:two', '2:three']);
    rig.kill('a');
    await rig.store.remove(client.sessionId ?? '', 'a/1');
    if (early !== undefined) await rig.store.save(early, 'a/1', 1_000_000);
    async function moveTo(name: string): Promise<void> {
      const connecting = client.connect(rig.instance(name));
      await rig.clock.advance(3_000);
      expect(await connecting).toBe('opened');
    }
    await moveTo('b');
    client.utter('four');
    client.pump();
    await rig.quiet();
    return { rig, client, moveTo };
  }

  it('a received number is not reused after a failover lost it', async () => {
    const { rig, client } = await withForgotten();
    rig.jobs.job('four').finish();
    await rig.quiet();
    expect(client.received.slice(0, 3)).toEqual(['0:one', '1:two', '2:three']);
    expect(client.received.slice(3)).toMatchObject([expect.stringMatching(/:four$/)]);
    expect(client.sent.at(-1)).toMatchObject({ kind: 'outcome', delivered: { deliverySeq: 4 } });
    expect(client.complaints).toEqual([]);
  });

  it('a received number is not reused after a second handover', async () => {
    const { rig, client, moveTo } = await withForgotten();
    rig.kill('b');
    await moveTo('c');
    rig.jobs.job('four').finish();
    await rig.quiet();
    expect(client.received.slice(3)).toMatchObject([expect.stringMatching(/:four$/)]);
    expect(client.complaints).toEqual([]);
  });
});
