/** A draining instance with others: its clients move, and their open audio moves with them. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { connectTo, speaking } from '../support/speaking-client.ts';

const LIMITS = { reconnectAfterMs: 500, limitMs: 30_000 };

describe('draining with other instances', () => {
  it('server_draining is sent after the session is saved', async () => {
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
    expect(client.received).toEqual(['0:one']);
  });

  it.each(['b', 'a'])('a sentence during a move to %s stays one utterance', async (to) => {
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
    expect(client.received).toEqual(['0:one', '1:half a sentence']);
    expect(rig.jobs.jobs).toHaveLength(2);
    expect(client.complaints).toEqual([]);
  });

  it('half a sentence is translated if the client cannot resend it', async () => {
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

  it('server_draining is sent although the store does not answer', async () => {
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
