/** A draining instance, where others can go on with its sessions: clients are told to move, and what they were saying moves with them. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { connectTo, speaking } from './speaking-client.ts';

const LIMITS = { reconnectAfterMs: 500, limitMs: 30_000 };

describe('draining, where others can go on', () => {
  it('tells a client to move when all of its session is saved, and does not wait for one that moved', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    client.say('half');
    client.pump();
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 300 } });
    let isEnded = false;
    const { notified, ended } = rig.instance('a').service.drain(LIMITS);
    void ended.then(() => {
      isEnded = true;
    });
    expect(notified).toBe(1);
    await rig.clock.advance(299);
    expect(client.sent.filter(({ kind }) => kind === 'draining')).toEqual([]);
    await rig.clock.advance(1);
    expect(client.sent.at(-1)).toMatchObject({ kind: 'draining' });
    expect((await rig.store.load(client.sessionId ?? ''))?.state.utterances).toHaveLength(1);
    expect(isEnded).toBe(false);
    await connectTo(rig, client, 'b');
    client.pump();
    await rig.quiet();
    expect(isEnded).toBe(true);
    rig.jobs.job('one').finish();
    await rig.quiet();
    expect(client.heard).toEqual(['0:one']);
  });

  it.each(['b', 'a'])('makes one utterance of a sentence during which its client moves to %s', async (to) => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    client.say('half');
    client.pump();
    void rig.instance('a').service.drain(LIMITS);
    client.say(' a sentence');
    client.pump();
    await rig.quiet();
    expect(rig.instance('a').audio.size()).toBe(0);
    client.leave();
    await connectTo(rig, client, to);
    client.end();
    client.pump();
    await rig.quiet();
    for (const text of ['one', 'half a sentence']) rig.jobs.job(text).finish();
    await rig.quiet();
    expect(client.heard).toEqual(['0:one', '1:half a sentence']);
    expect(rig.jobs.jobs).toHaveLength(2);
    expect(client.complaints).toEqual([]);
  });

  it('translates half a sentence of a client that would not say it again', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig, { abilities: new Set(['result_ack', 'server_draining']) });
    client.say('half');
    client.pump();
    void rig.instance('a').service.drain(LIMITS);
    await rig.quiet();
    for (const text of ['one', 'half']) rig.jobs.job(text).finish();
    await rig.quiet();
    expect(client.sent.filter(({ kind }) => kind === 'outcome')).toHaveLength(2);
  });

  it('tells it all the same if the store does not answer', async () => {
    const rig = createInstancesRig();
    const client = await speaking(rig);
    client.say('half');
    client.pump();
    rig.instance('a').store.plan({ method: 'save', fault: { delayMs: 60_000 } });
    rig.instance('a').service.drain(LIMITS);
    await rig.clock.advance(1_000);
    expect(client.sent.at(-1)).toMatchObject({ kind: 'draining' });
  });
});
