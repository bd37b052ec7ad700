/** Rare races of handovers, each found by a mutation of the code. */
import { describe, expect, it } from 'vitest';
import type { SessionLink } from '../../../src/session/output.ts';
import { createInstancesRig, type InstancesRig, SAVED_LATER_MS } from '../support/instances-rig.ts';
import { createMovingClient, type MovingClient } from '../support/moving-client.ts';
import { createRecordingLink } from '../support/recording-link.ts';
import { opening } from '../support/session-rig.ts';

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

describe('saved state', () => {
  it('a change before the end does not restore the saved state', async () => {
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

  it('an instance that lost a session stops saving it', async () => {
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

  it('the group context is not doubled after a handover', async () => {
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

it('a disconnected session keeps its expiry, also after its owner died', async () => {
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

describe('concurrent connections of one client', () => {
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

  it('concurrent resumes on one instance share one session; the last wins', async () => {
    const { rig, links } = await comeTogether(['b', 'b', 'b']);
    expect(rig.instance('b').service.counts()).toMatchObject({ sessions: 1, connected: 1, watched: 1 });
    expect(links.map((link) => link.isReplaced())).toEqual([true, true, false]);
    expect(links.map((link) => link.lines()[0])).toEqual(['resumed', 'resumed', 'resumed']);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(links.map((link) => link.outcomes())).toEqual([[], [], ['0:one']]);
  });

  it('concurrent resumes on several instances open no second session', async () => {
    const { rig, links } = await comeTogether(['b', 'c']);
    expect(links.map((link) => link.lines()[0])).toEqual(['resumed', 'resumed']);
    const counts = ['b', 'c'].map((name) => rig.instance(name).service.counts().sessions);
    expect(counts.toSorted()).toEqual([0, 1]);
  });
});

describe('draining', () => {
  it('a client that resumed during draining gets no server_draining', async () => {
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

  it('the end of draining saves the last changes', async () => {
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

describe('resent audio', () => {
  it('resent audio is used only complete and in order', async () => {
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

  it('resent audio respects and releases the audio budget', async () => {
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

  it('a resent whole utterance is accepted again each time', async () => {
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

  it('resent audio with another fingerprint makes no second job', async () => {
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
    expect(client.received).toEqual(['0:one']);
  });

  it('a resent utterance is not gone while its dispatch is pending', async () => {
    const rig = createInstancesRig();
    const client = await connected(rig, 'one');
    rig.kill('a');
    await comeToB(rig, client);
    await rig.clock.advance(8_000);
    client.pump();
    await rig.clock.advance(8_000);
    expect(client.received).toEqual([]);
    rig.jobs.answerAll();
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.received).toEqual(['0:one']);
  });
});

it('whole utterances are refused while outcomes wait for the store', async () => {
  const rig = createInstancesRig({ settings: { maxUtterances: 4 } });
  const client = await connected(rig);
  rig.jobs.answerAll();
  rig.instance('a').store.plan({ method: 'save', fault: 'throw' });
  for (let count = 0; count < 30; count += 1) client.utter(`${count}.`);
  client.pump();
  const [view] = rig.instance('a').service.list({ limit: 1 }).sessions;
  expect((view?.running ?? 0) + (view?.pending ?? 0)).toBe(8);
});
