/** What other instances know of a session, and when. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from './instances-rig.ts';
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
const kinds = (client: MovingClient) =>
  client.sent.map(({ kind }) => kind).filter((kind) => kind !== 'ui_event');
const saved = async (rig: InstancesRig, client: MovingClient) =>
  (await rig.store.load(client.sessionId ?? ''))?.state;

describe('an utterance', () => {
  it('is told to be accepted when it is saved and recorded, whichever comes last', async () => {
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

  it('is dispatched without waiting for that', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 100 } });
    speak(client, 'one');
    expect(rig.jobs.pendingRequests).toHaveLength(1);
  });

  it('keeps its outcome back until others would give it the same number', async () => {
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
    expect(client.heard).toEqual(['0:one', '1:two']);
  });

  it('is saved under the name of the job that does it before it is told', async () => {
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
    expect([first.heard, second.heard]).toEqual([['0:hello'], ['0:hello']]);
  });
});

describe('a store that does not answer', () => {
  it('does not let outcomes pile up for ever: audio is refused aloud, and taken later', async () => {
    const rig = createInstancesRig({ settings: { maxUtterances: 4 } });
    const client = await connected(rig);
    rig.jobs.answerAll();
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    for (let count = 0; count < 30; count += 1) speak(client, `${count}.`);
    const [view] = rig.instance('a').service.list({ limit: 1 }).sessions;
    expect((view?.running ?? 0) + (view?.pending ?? 0)).toBe(8);
    expect(client.sent).toContainEqual(expect.objectContaining({ kind: 'error', code: 'RATE_LIMITED' }));
  });

  it('keeps a client that wants to resume out until it answers, and says so', async () => {
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

  it('leaves results of a resumed session to be read when it answers', async () => {
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
    expect(client.heard).toEqual([]);
    rig.jobs.setDown(false);
    await rig.clock.advance(1_000);
    expect(client.heard).toEqual(['0:one', '1:two']);
    expect(client.complaints).toEqual([]);
  });
});

describe('a session in which nothing happens', () => {
  it('is renewed in time, together with others', async () => {
    const rig = createInstancesRig();
    const clients = await Promise.all(Array.from({ length: 5 }, () => connected(rig)));
    await rig.clock.advance(3_600_000);
    for (const client of clients) expect(await saved(rig, client)).toBeDefined();
    const { store } = rig.instance('a');
    expect(store.calls('save')).toBe(5);
    expect(store.calls('touch')).toBeLessThan(20);
  });

  it('is renewed also where there was none for a while', async () => {
    const rig = createInstancesRig();
    const first = await connected(rig);
    first.close();
    await rig.clock.advance(1_000);
    expect(rig.clock.pending()).toBe(0);
    const second = await connected(rig);
    await rig.clock.advance(3_600_000);
    expect(await saved(rig, second)).toBeDefined();
  });

  it('is written again where the store lost it, or has an older one', async () => {
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

  it('is renewed although one that was opened before it is written all the time, and one after it ends', async () => {
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

  it('is written again where the store lost it though its client is away, for as long as that is waited for', async () => {
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

  it('is forgotten when somebody else has it', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    await rig.store.take(client.sessionId ?? '', 'b/1', 'a/1', 10_000_000);
    await rig.clock.advance(600_000);
    expect(client.cutBy).toBe('replaced');
    expect(rig.clock.pending()).toBe(0);
  });
});

describe('a session that ends', () => {
  it('leaves nothing in the store, whether it is closed or nobody came back', async () => {
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

  it('is not brought back by a save that was under way', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 300 } });
    speak(client, 'one');
    client.close();
    await rig.clock.advance(1_000);
    expect(await saved(rig, client)).toBeUndefined();
  });

  it('is not looked after any more, though it ended while it was written and others go on', async () => {
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

  it('expires in the store soon after its time if its owner died', async () => {
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
