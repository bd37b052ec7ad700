/** Corners of moving sessions that histories reach rarely, each found by breaking the code. */
import { describe, expect, it } from 'vitest';
import type { SessionLink } from '../../src/session/output.ts';
import { createInstancesRig, type InstancesRig, SAVED_LATER_MS } from './instances-rig.ts';
import { createMovingClient, type MovingClient } from './moving-client.ts';
import { createRecordingLink } from './recording-link.ts';
import { opening } from './session-rig.ts';

async function connected(rig: InstancesRig, ...texts: string[]): Promise<MovingClient> {
  const client = createMovingClient();
  await client.connect(rig.instance('a'));
  for (const text of texts) {
    client.say(text);
    client.end();
    client.pump();
  }
  await rig.clock.advance(1_000);
  return client;
}

async function comeToB(rig: InstancesRig, client: MovingClient): Promise<void> {
  const connecting = client.connect(rig.instance('b'));
  await rig.clock.advance(1_600);
  expect(await connecting).toBe('opened');
}

describe('what was saved', () => {
  it('is not brought back by a change just before the end of the session', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig, 'one');
    client.leave();
    await rig.clock.advance(59_800);
    rig.jobs.job('one').finish();
    await rig.clock.advance(200);
    expect(rig.instance('a').service.counts().sessions).toBe(0);
    await rig.clock.advance(1_000);
    expect(await rig.store.load(client.sessionId ?? '')).toBeUndefined();
  });

  it('is not written any more by an instance that knows that it lost the session', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    const { store, service } = rig.instance('a');
    await rig.store.take(client.sessionId ?? '', 'b/1', 'a/1', 1_000_000);
    const before = store.calls('save');
    store.plan({ method: 'save', fault: { answerDelayMs: 300 } });
    const acknowledge = (deliverySeq: number) =>
      service.receive(client.sessionId ?? '', 'anybody', { kind: 'acknowledged', deliverySeq });
    acknowledge(1);
    await rig.clock.advance(SAVED_LATER_MS);
    acknowledge(2);
    await rig.clock.advance(200);
    expect(client.cutBy).toBe('replaced');
    await rig.clock.advance(10_000);
    expect(store.calls('save') - before).toBe(1);
  });

  it('says what was said before once: the context of the next part is not doubled', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig, 'one');
    rig.jobs.job('one').finish();
    await rig.clock.advance(SAVED_LATER_MS);
    rig.kill('a');
    await comeToB(rig, client);
    const groupId = rig.jobs.job('one').record.spec.groupId ?? '';
    rig.instance('b').service.receive(client.sessionId ?? '', 'anybody', { kind: 'playback_ended', groupId });
    client.say('two');
    client.end();
    client.pump();
    expect(rig.jobs.job('two').record.spec).toMatchObject({ groupId, partIndex: 1, contextText: 'one' });
  });
});

it('a session that is waited for long keeps its time, whether or not its owner lives', async () => {
  const rig = createInstancesRig({ settings: { resumeTtlMs: 3_600_000 } });
  const client = await connected(rig);
  client.leave();
  await rig.clock.advance(300_000);
  rig.kill('a');
  await rig.clock.advance(3_200_000);
  expect(await rig.store.load(client.sessionId ?? '')).toBeDefined();
  await rig.clock.advance(200_000);
  expect(await rig.store.load(client.sessionId ?? '')).toBeUndefined();
});

describe('connections of one client that come at the same time', () => {
  async function comeTogether(names: readonly string[]) {
    const rig = createInstancesRig({ names: ['a', 'b', 'c'] });
    rig.jobs.answerAll();
    const { resume } = await connected(rig, 'one');
    rig.kill('a');
    const links = names.map(() => createRecordingLink());
    const all = names.map((name, at) =>
      rig.instance(name).service.open(opening({ resume }), links[at] as SessionLink),
    );
    await rig.clock.advance(10_000);
    await Promise.all(all);
    return { rig, links };
  }

  it('to one instance have one session, and the last of them has it', async () => {
    const { rig, links } = await comeTogether(['b', 'b', 'b']);
    expect(rig.instance('b').service.counts()).toMatchObject({ sessions: 1, connected: 1, watched: 1 });
    expect(links.map((link) => link.isReplaced())).toEqual([true, true, false]);
    expect(links.map((link) => link.lines()[0])).toEqual(['resumed', 'resumed', 'resumed']);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(links.map((link) => link.outcomes())).toEqual([[], [], ['0:one']]);
  });

  it('to several are none of them given another session', async () => {
    const { rig, links } = await comeTogether(['b', 'c']);
    expect(links.map((link) => link.lines()[0])).toEqual(['resumed', 'resumed']);
    const counts = ['b', 'c'].map((name) => rig.instance(name).service.counts().sessions);
    expect(counts.toSorted()).toEqual([0, 1]);
  });
});

describe('draining', () => {
  it('does not send a client away that came back meanwhile', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    client.say('half');
    client.pump();
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 300 } });
    rig.instance('a').service.drain({ reconnectAfterMs: 500, limitMs: 30_000 });
    client.leave();
    await client.connect(rig.instance('a'));
    await rig.clock.advance(2_000);
    expect(client.sent.filter(({ kind }) => kind === 'draining')).toEqual([]);
  });

  it('saves at its end what changed last', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig, 'one');
    const { ended } = rig.instance('a').service.drain({ reconnectAfterMs: 500, limitMs: 30_000 });
    await rig.quiet();
    rig.jobs.job('one').finish();
    await ended;
    const stored = await rig.store.load(client.sessionId ?? '');
    expect(stored?.state.utterances.map(({ settled }) => settled)).toEqual([{}]);
  });
});

describe('audio that is sent again', () => {
  it('is complete, in order and without what came twice, or it is not used', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig);
    for (const text of ['a', 'b', 'c']) {
      client.say(text);
      client.pump();
    }
    client.end();
    client.pump();
    await rig.quiet();
    rig.kill('a');
    await comeToB(rig, client);
    const { service } = rig.instance('b');
    const send = (seq: number, text: string) =>
      service.receive(client.sessionId ?? '', 'anybody', {
        kind: 'chunk',
        seq,
        audio: Buffer.from(text),
        isFinal: false,
        requestId: 'client-1',
      });
    for (const [seq, text] of [
      [2, 'b'],
      [3, 'c'],
    ] as const)
      send(seq, text);
    expect(rig.jobs.pendingRequests).toEqual([]);
    for (const [seq, text] of [
      [1, 'a'],
      [2, 'b'],
      [2, 'b'],
      [3, 'c'],
    ] as const)
      send(seq, text);
    expect(rig.jobs.pendingRequests.map(({ text }) => text)).toEqual(['abc']);
    for (const [seq, text] of [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ] as const)
      send(seq, text);
    expect(rig.jobs.pendingRequests).toHaveLength(1);
  });

  it('takes no more room than there is, and gives back what it took', async () => {
    const rig = createInstancesRig({ settings: { maxAudioBytes: 5 } });
    rig.jobs.answerAll();
    const client = await connected(rig);
    for (const text of ['abc', 'de']) {
      client.say(text);
      client.pump();
    }
    client.end();
    client.pump();
    await rig.quiet();
    rig.kill('a');
    await comeToB(rig, client);
    const { service, audio } = rig.instance('b');
    const send = (seq: number, text: string) =>
      service.receive(client.sessionId ?? '', 'anybody', {
        kind: 'chunk',
        seq,
        audio: Buffer.from(text),
        isFinal: false,
      });
    send(1, 'abc');
    expect(audio.size()).toBe(3);
    send(2, 'too long');
    expect(audio.size()).toBe(0);
    send(1, 'abc');
    service.abandonAll();
    expect(audio.size()).toBe(0);
  });

  it('is answered by the acceptance of the whole utterance, each time', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig);
    client.utter('whole');
    client.pump();
    await rig.quiet();
    rig.kill('a');
    await comeToB(rig, client);
    client.pump();
    await rig.quiet();
    expect(client.sent.filter(({ kind }) => kind === 'accepted')).toHaveLength(2);
  });

  it('that does not fit its job any more makes no other one', async () => {
    const rig = createInstancesRig();
    rig.jobs.answerAll();
    const client = await connected(rig, 'one');
    rig.kill('a');
    await comeToB(rig, client);
    rig.instance('b').service.receive(client.sessionId ?? '', 'anybody', {
      kind: 'chunk',
      seq: 1,
      audio: Buffer.from('two'),
      isFinal: true,
      requestId: 'client-1',
    });
    await rig.quiet();
    expect(rig.jobs.jobs.map(({ text }) => text)).toEqual(['one']);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.heard).toEqual(['0:one']);
  });

  it('is waited for as long as it is being asked for, however late it came', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig, 'one');
    rig.kill('a');
    await comeToB(rig, client);
    await rig.clock.advance(8_000);
    client.pump();
    await rig.clock.advance(8_000);
    expect(client.heard).toEqual([]);
    rig.jobs.answerAll();
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.heard).toEqual(['0:one']);
  });
});

it('a store that does not answer keeps whole utterances out as well', async () => {
  const rig = createInstancesRig({ settings: { maxUtterances: 4 } });
  const client = await connected(rig);
  rig.jobs.answerAll();
  rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
  for (let count = 0; count < 30; count += 1) client.utter(`${count}.`);
  client.pump();
  const [view] = rig.instance('a').service.list({ limit: 1 }).sessions;
  expect((view?.running ?? 0) + (view?.pending ?? 0)).toBe(8);
});
