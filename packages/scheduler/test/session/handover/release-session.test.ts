/** Ownership of a session: its owner releases it, loses it, or cannot be reached; two instances never own it. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, SAVED_LATER_MS } from '../support/instances-rig.ts';
import { createMovingClient } from '../support/moving-client.ts';
import { opening } from '../support/session-rig.ts';
import { connectTo, speaking } from '../support/speaking-client.ts';

const NOTHING_LEFT = { sessions: 0, connected: 0, watched: 0, resultBytes: 0 };

describe('an owner that is alive', () => {
  it('a release saves all, closes the connection and cancels nothing', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    const other = createMovingClient();
    const [a, b] = [rig.instance('a'), rig.instance('b')];
    let isReplaced = false;
    const link = { send() {}, replaced: () => (isReplaced = true), abandoned() {} };
    const { resume, sessionId = '' } = client;
    await a.service.open(opening({ resume }), link as never);
    expect(await connectTo(rig, client, 'b')).toBe('opened');
    expect(isReplaced).toBe(true);
    expect(a.service.counts()).toEqual(NOTHING_LEFT);
    expect(rig.jobs.cancelled).toEqual([]);
    expect((await rig.store.load(sessionId))?.owner).toBe(b.owner);
    rig.jobs.job('one').finish();
    client.say('two');
    client.end();
    client.pump();
    await rig.quiet();
    expect(client.received).toEqual(['0:one']);
    expect(rig.jobs.job('two').record.spec.utteranceIndex).toBe(1);
    expect(other.complaints.concat(client.complaints)).toEqual([]);
  });

  it('a release translates open audio that the client cannot resend', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig, { abilities: new Set(['result_ack']) });
    client.say('half a sent');
    client.pump();
    client.leave();
    expect(await connectTo(rig, client, 'b')).toBe('opened');
    rig.jobs.job('one').finish();
    rig.jobs.job('half a sent').finish();
    await rig.quiet();
    expect(client.sent.filter(({ kind }) => kind === 'outcome')).toHaveLength(2);
  });

  it('a closing session is not released', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    client.close();
    await rig.quiet();
    expect(await rig.store.load(client.sessionId ?? '')).toBeUndefined();
    expect(await rig.instance('a').service.release(client.sessionId ?? '')).toBe(false);
    rig.jobs.job('one').finish();
    expect(client.sent.slice(-2)).toMatchObject([{ kind: 'outcome' }, { kind: 'closed' }]);
    await rig.clock.advance(1_000);
    expect(await rig.store.load(client.sessionId ?? '')).toBeUndefined();
  });

  it('a session stays with its owner if the other instance is full', async () => {
    const rig = createInstancesRig({ settings: { maxSessions: 1 } });
    const [client, other] = [await speaking(rig), createMovingClient()];
    await other.connect(rig.instance('b'));
    expect(await connectTo(rig, client, 'b')).toBe('full');
    expect(await connectTo(rig, client, 'a')).toBe('opened');
    expect(client.sessions).toHaveLength(1);
  });

  it('a release of an unknown session reports failure', async () => {
    const rig = createInstancesRig();
    expect(await rig.instance('a').service.release('s-unknown')).toBe(false);
  });

  it('I5 order: indexes of an owner that a failover lost are not reused', async () => {
    const rig = createInstancesRig({ names: ['a', 'b', 'c'] });
    const client = await speaking(rig);
    const { sessionId = '' } = client;
    await rig.clock.advance(1_000);
    const before = await rig.store.load(sessionId);
    expect(before?.owner).toBe('a/1');
    await connectTo(rig, client, 'b');
    client.say('two');
    client.end();
    client.pump();
    await rig.quiet();
    for (const text of ['one', 'two']) rig.jobs.job(text).finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one', '1:two']);
    rig.kill('b');
    await rig.store.remove(sessionId, 'b/1');
    if (before !== undefined) await rig.store.save(before.state, before.owner, 60_000);
    await connectTo(rig, client, 'c');
    client.say('three');
    client.end();
    client.pump();
    await rig.quiet();
    expect(rig.jobs.job('three').record.spec.utteranceIndex).toBeGreaterThan(1);
    rig.jobs.job('three').finish();
    await rig.quiet();
    expect(client.complaints).toEqual([]);
    expect(client.received.at(-1)).toMatch(/:three$/);
  });

  it('an earlier owner gets the session again when the client returns', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    await connectTo(rig, client, 'b');
    await connectTo(rig, client, 'a');
    expect(rig.instance('b').service.counts()).toEqual(NOTHING_LEFT);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one']);
    expect(client.sessions).toHaveLength(1);
  });
});

it('I5 order: the current owner retakes a session after a failover', async () => {
  const rig = createInstancesRig();
  const client = await speaking(rig);
  const { sessionId = '' } = client;
  await rig.clock.advance(1_000);
  const before = await rig.store.load(sessionId);
  rig.isolate('a');
  await connectTo(rig, client, 'b');
  client.say('two');
  client.end();
  client.pump();
  for (const text of ['one', 'two']) rig.jobs.job(text).finish();
  await rig.clock.advance(1_000);
  await rig.store.remove(sessionId, 'b/1');
  if (before !== undefined) await rig.store.save(before.state, before.owner, 60_000);
  rig.instance('b').service.reassert();
  await rig.clock.advance(6_000);
  expect((await rig.store.load(sessionId))?.owner).toBe('b/1');
  client.say('three');
  client.end();
  client.pump();
  await rig.quiet();
  rig.jobs.job('three').finish();
  await rig.quiet();
  expect(client.cutBy).toBeUndefined();
  expect(client.received.map((one) => one.split(':')[1])).toEqual(['one', 'two', 'three']);
  expect(client.complaints).toEqual([]);
});

describe('an owner that does not reply', () => {
  it('an owner that lost its session drops it without cancelling', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    rig.isolate('a');
    let cutBy = '';
    const link = { send() {}, replaced: () => (cutBy = 'replaced'), abandoned() {} };
    await rig.instance('a').service.open(opening({ resume: client.resume }), link as never);
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(1_400);
    expect(rig.instance('b').service.counts().sessions).toBe(0);
    await rig.clock.advance(200);
    expect(await connecting).toBe('opened');
    rig
      .instance('a')
      .service.receive(client.sessionId ?? '', 'anybody', { kind: 'acknowledged', deliverySeq: 9 });
    await rig.clock.advance(SAVED_LATER_MS);
    expect(cutBy).toBe('replaced');
    expect(rig.instance('a').service.counts()).toEqual(NOTHING_LEFT);
    expect(rig.jobs.cancelled).toEqual([]);
    expect(rig.counts.get('scheduler_sessions_ended_total moved')).toBe(1);
  });

  it('the end of a lost session cancels nothing', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    rig.isolate('a');
    rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
    client.leave();
    await connectTo(rig, client, 'b');
    client.leave();
    await connectTo(rig, client, 'b');
    await rig.clock.advance(70_000);
    expect(rig.instance('a').service.counts()).toEqual(NOTHING_LEFT);
    expect(rig.jobs.cancelled).toEqual([]);
    expect(client.isConnected).toBe(true);
  });
});

describe('a session on two instances', () => {
  it.each([
    ['with another token', { token: 'wrong' }, {}],
    ['of another tenant', {}, { tenantId: 'other' }],
  ])('a resume on another instance %s opens a new session', async (_, wrong, more) => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    const { sessionId = '' } = client;
    const sent: unknown[] = [];
    const link = {
      send: (_id: string, output: unknown) => void sent.push(output),
      replaced() {},
      abandoned() {},
    };
    const opened = await rig
      .instance('b')
      .service.open(
        opening({ resume: { sessionId, token: client.resume?.token ?? '', ...wrong }, ...more }),
        link,
      );
    expect(opened).toMatchObject({ kind: 'opened' });
    expect(sent[0]).toMatchObject({ kind: 'opened', isResumed: false, hasMoved: false });
    expect((await rig.store.load(sessionId))?.owner).toBe('a/1');
    expect(rig.instance('a').service.counts()).toMatchObject({ sessions: 1, connected: 1 });
  });

  it('concurrent resumes leave the session on one instance', async () => {
    const rig = createInstancesRig({ names: ['a', 'b', 'c'] });
    const client = await speaking(rig);
    const { resume, sessionId: wanted = '' } = client;
    rig.kill('a');
    const sent: { kind: string; isResumed?: boolean }[] = [];
    const link = () => ({
      send: (_id: string, output: unknown) => void sent.push(output as never),
      replaced() {},
      abandoned() {},
    });
    const all = ['b', 'c', 'b', 'c', 'b'].map((name) =>
      rig.instance(name).service.open(opening({ resume }), link()),
    );
    await rig.clock.advance(10_000);
    await Promise.all(all);
    const owner = (await rig.store.load(wanted))?.owner ?? '';
    const holders = ['b', 'c'].filter((name) =>
      rig
        .instance(name)
        .service.list({ limit: 10 })
        .sessions.some(({ sessionId }) => sessionId === wanted),
    );
    expect(holders.map((name) => `${name}/1`)).toEqual([owner]);
    expect(sent.filter(({ kind }) => kind === 'opened').some(({ isResumed }) => isResumed)).toBe(true);
  });
});

describe('a fenced instance', () => {
  it('abandoning all sessions closes connections and cancels and writes nothing', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    client.say('half');
    client.pump();
    const saves = rig.instance('a').store.calls();
    rig.instance('a').service.abandonAll();
    expect(client.cutBy).toBe('abandoned');
    await rig.clock.advance(60_000);
    expect(rig.instance('a').store.calls()).toBe(saves);
    expect(rig.instance('a').service.counts()).toEqual(NOTHING_LEFT);
    expect(rig.instance('a').audio.size()).toBe(0);
    expect(rig.jobs.cancelled).toEqual([]);
    expect(rig.clock.pending()).toBe(0);
    rig.jobs.job('one').finish();
    await connectTo(rig, client, 'b');
    expect(client.received).toEqual(['0:one']);
  });

  it('a fetch during the abandonment opens nothing', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    rig.kill('a');
    const connecting = client.connect(rig.instance('b'));
    await rig.clock.advance(1_000);
    rig.instance('b').service.abandonAll();
    await rig.clock.advance(1_000);
    expect(await connecting).toBe('unavailable');
    expect(rig.instance('b').service.counts()).toEqual(NOTHING_LEFT);
  });
});
