/** The saved state of a session, and when it is written. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from '../support/instances-rig.ts';
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
const kinds = (client: MovingClient) =>
  client.sent.map(({ kind }) => kind).filter((kind) => kind !== 'ui_event');
const saved = async (rig: InstancesRig, client: MovingClient) =>
  (await rig.store.load(client.sessionId ?? ''))?.state;

describe('an utterance', () => {
  it('the acceptance is sent after both save and record', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    speak(client, 'one');
    await rig.quiet();
    expect((await saved(rig, client))?.utterances).toMatchObject([{ index: 0, requestId: 'client-1' }]);
    expect(kinds(client)).toEqual(['opened']);
    rig.jobs.pendingRequest('one').answer();
    expect(kinds(client)).toEqual(['opened', 'accepted']);
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 100 } });
    speak(client, 'two');
    rig.jobs.pendingRequest('two').answer();
    await rig.clock.advance(99);
    expect(kinds(client)).toEqual(['opened', 'accepted']);
    await rig.clock.advance(1);
    expect(kinds(client)).toEqual(['opened', 'accepted', 'accepted']);
  });

  it('dispatch does not wait for the save', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 100 } });
    speak(client, 'one');
    expect(rig.jobs.pendingRequests).toHaveLength(1);
  });

  it('an outcome waits until its utterance is saved', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    speak(client, 'one', 'two');
    rig.jobs.job('two').finish();
    rig.jobs.job('one').finish();
    await rig.clock.advance(30_000);
    expect(kinds(client)).toEqual(['opened']);
    rig.instance('a').store.heal();
    await rig.clock.advance(400);
    expect(kinds(client)).toEqual(['opened', 'accepted', 'accepted', 'outcome', 'outcome']);
    expect(client.received).toEqual(['0:one', '1:two']);
  });

  it('a changed job id is saved before the acceptance is sent', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const [first, second] = [createMovingClient({}, 'same'), createMovingClient({}, 'same')];
    await first.connect(rig.instance('b'));
    first.utter('hello');
    first.pump();
    await second.connect(rig.instance('a'));
    await rig.clock.advance(1_000);
    const before = savesOf(rig);
    second.utter('hello');
    second.pump();
    await rig.quiet();
    expect(rig.jobs.jobs).toHaveLength(1);
    expect((await saved(rig, second))?.utterances[0]?.jobId).toBe(rig.jobs.job('hello').jobId);
    expect(savesOf(rig) - before).toBe(2);
    expect(second.accepted.size).toBe(1);
    // Its driver is on another instance.
    rig.jobs.job('hello').finish();
    await rig.quiet();
    expect([first.received, second.received]).toEqual([['0:hello'], ['0:hello']]);
  });
});

describe('a store that does not answer', () => {
  it('audio is refused while outcomes wait for the store', async () => {
    const rig = createInstancesRig({ settings: { maxUtterances: 4 } });
    const client = await connected(rig);
    rig.jobs.answerAll();
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    for (let count = 0; count < 30; count += 1) speak(client, `${count}.`);
    const [view] = rig.instance('a').service.list({ limit: 1 }).sessions;
    expect((view?.running ?? 0) + (view?.pending ?? 0)).toBe(8);
    expect(client.sent).toContainEqual(expect.objectContaining({ kind: 'error', code: 'RATE_LIMITED' }));
  });

  it('a resume is unavailable while the store does not answer', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    speak(client, 'one');
    await rig.quiet();
    rig.kill('a');
    for (const method of ['load', 'take'] as const) {
      rig.instance('b').store.plan({ method, fault: 'throw' });
      const connecting = client.connect(rig.instance('b'));
      await rig.clock.advance(2_000);
      expect(await connecting).toBe('unavailable');
    }
    rig.instance('b').store.heal();
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(2_000);
    expect(await connecting).toBe('opened');
    expect(client.sessions).toHaveLength(1);
  });

  it('results of a resumed session are read after the store recovers', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    speak(client, 'one', 'two');
    await rig.quiet();
    rig.kill('a');
    for (const text of ['one', 'two']) rig.jobs.job(text).finish();
    rig.jobs.setDown(true);
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(4_000);
    expect(await connecting).toBe('opened');
    expect(client.received).toEqual([]);
    rig.jobs.setDown(false);
    await rig.clock.advance(1_000);
    expect(client.received).toEqual(['0:one', '1:two']);
    expect(client.complaints).toEqual([]);
  });
});

describe('an idle session', () => {
  it('idle sessions are renewed in time, together', async () => {
    const rig = createInstancesRig();
    const clients = await Promise.all(Array.from({ length: 5 }, () => connected(rig)));
    await rig.clock.advance(3_600_000);
    for (const client of clients) expect(await saved(rig, client)).toBeDefined();
    const { store } = rig.instance('a');
    expect(store.calls('save')).toBe(5);
    expect(store.calls('touch')).toBeLessThan(20);
  });

  it('an idle session is renewed after a time without sessions', async () => {
    const rig = createInstancesRig();
    const first = await connected(rig);
    first.close();
    await rig.clock.advance(1_000);
    expect(rig.clock.pending()).toBe(0);
    const second = await connected(rig);
    await rig.clock.advance(3_600_000);
    expect(await saved(rig, second)).toBeDefined();
  });

  it('a lost or older saved state is written again', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const [lost, older] = [await connected(rig), await connected(rig)];
    const early = await saved(rig, older);
    speak(older, 'one');
    await rig.quiet();
    await rig.store.remove(lost.sessionId ?? '', 'a/1');
    await rig.store.remove(older.sessionId ?? '', 'a/1');
    if (early !== undefined) await rig.store.save(early, 'a/1', 1_000_000);
    rig.instance('a').service.reassert();
    await rig.clock.advance(6_000);
    expect(await saved(rig, lost)).toBeDefined();
    expect((await saved(rig, older))?.utterances).toHaveLength(1);
  });

  it('an idle session is renewed beside busy and ended ones', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const [busy, idle, closed] = [await connected(rig), await connected(rig), await connected(rig)];
    closed.close();
    for (let minutes = 0; minutes < 20; minutes += 1) {
      speak(busy, 'one');
      await rig.clock.advance(60_000);
    }
    expect(await saved(rig, idle)).toBeDefined();
  });

  it('a lost state of a disconnected session is written again', async () => {
    const rig = createInstancesRig();
    const [away, gone] = [await connected(rig), await connected(rig)];
    away.leave();
    gone.leave();
    await rig.clock.advance(2_000);
    for (const { sessionId } of [away, gone]) await rig.store.remove(sessionId ?? '', 'a/1');
    rig.instance('a').service.reassert();
    await rig.clock.advance(6_000);
    expect(await saved(rig, away)).toBeDefined();
    const connecting = away.connect(rig.instance('b'));
    await rig.clock.advance(2_000);
    expect([await connecting, away.sessions.length]).toEqual(['opened', 1]);
    rig.kill('a');
    await rig.clock.advance(60_000);
    expect(await saved(rig, gone)).toBeUndefined();
  });

  it('a session that another instance owns is dropped', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    await rig.store.take(client.sessionId ?? '', 'b/1', 'a/1', 10_000_000);
    await rig.clock.advance(600_000);
    expect(client.cutBy).toBe('replaced');
    expect(rig.clock.pending()).toBe(0);
  });
});

describe('a session that ends', () => {
  it('an ended session has no saved state', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const [closed, left] = [await connected(rig), await connected(rig)];
    speak(left, 'one');
    await rig.quiet();
    closed.close();
    left.leave();
    await rig.clock.advance(59_000);
    expect(await saved(rig, closed)).toBeUndefined();
    expect(await saved(rig, left)).toBeDefined();
    expect(rig.jobs.cancelled).toEqual([]);
    await rig.clock.advance(1_000);
    expect(await saved(rig, left)).toBeUndefined();
    expect(rig.jobs.cancelled).toEqual([rig.jobs.job('one').jobId]);
    expect(rig.instance('a').service.counts()).toMatchObject({ sessions: 0, watched: 0 });
    expect(rig.clock.pending()).toBe(0);
  });

  it('a save in progress does not restore an ended session', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 300 } });
    speak(client, 'one');
    client.close();
    await rig.clock.advance(1_000);
    expect(await saved(rig, client)).toBeUndefined();
  });

  it('a session that ended during a write is not renewed', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const [closed, other] = [await connected(rig), await connected(rig)];
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 300 } });
    speak(closed, 'one');
    closed.close();
    rig.jobs.job('one').finish();
    await rig.clock.advance(1_000);
    await rig.clock.advance(3_600_000);
    expect(await saved(rig, other)).toBeDefined();
    expect(await saved(rig, closed)).toBeUndefined();
  });

  it('a disconnected session of a dead owner expires in the store', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    client.leave();
    await rig.clock.advance(1_000);
    rig.kill('a');
    await rig.clock.advance(58_000);
    expect(await saved(rig, client)).toBeDefined();
    await rig.clock.advance(7_000);
    expect(await saved(rig, client)).toBeUndefined();
  });
});
