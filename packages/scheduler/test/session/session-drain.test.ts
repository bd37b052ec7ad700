import { describe, expect, it } from 'vitest';
import { settled } from './scripted-desk.ts';
import { createSessionRig, legacyOpening, opening, PRESSURE } from './session-rig.ts';

const LIMITS = { reconnectAfterMs: 500, limitMs: 30_000 };

/** Whether a promise is done. */
function watched(promise: Promise<void>): () => Promise<boolean> {
  let isDone = false;
  void promise.then(() => {
    isDone = true;
  });
  return async () => {
    await settled();
    return isDone;
  };
}

describe('draining', () => {
  it('tells those who understand it to move, seals what was said, and ends with the last outcome', async () => {
    const { open, dispatcher, service, clock } = createSessionRig();
    const client = open();
    client.say('half');
    const { notified, ended } = service.drain(LIMITS);
    const isEnded = watched(ended);
    expect(notified).toBe(1);
    expect(client.link.lines()).toContain('draining 500');
    expect(dispatcher.job().text).toBe('half');
    expect(await isEnded()).toBe(false);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:half']);
    expect(await isEnded()).toBe(true);
    // The timer of the pause finds nothing to do.
    await clock.advance(1_000);
    expect(clock.pending()).toBe(0);
  });

  it('takes no more audio of a client that will send it again elsewhere', () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    service.drain(LIMITS);
    client.speak('a');
    client.utter('b');
    expect(dispatcher.jobs).toEqual([]);
    expect(client.link.of('error')).toEqual([]);
  });

  it('pauses a legacy client, and still takes what it has said', async () => {
    const { open, dispatcher, service, clock } = createSessionRig();
    const client = open(legacyOpening());
    const { notified } = service.drain(LIMITS);
    expect(notified).toBe(0);
    expect(client.link.lines()).toEqual(['opened', 'pressure PAUSE 30000']);
    client.say('late', { isFinal: true });
    await clock.advance(200);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:late']);
  });

  it('takes what is said by a client that could not send it again', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open(opening({ abilities: new Set(['result_ack']) }));
    service.drain(LIMITS);
    client.speak('a');
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('ends at its limit, whatever is left', async () => {
    const { open, service, clock } = createSessionRig();
    open().speak('never');
    const isEnded = watched(service.drain(LIMITS).ended);
    await clock.advance(29_999);
    expect(await isEnded()).toBe(false);
    await clock.advance(1);
    expect(await isEnded()).toBe(true);
  });

  it('ends at once when nothing runs', async () => {
    const { open, service, clock } = createSessionRig();
    open();
    expect(await watched(service.drain(LIMITS).ended)()).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  it('keeps its PAUSE apart from one just told, and none that is shorter follows it', async () => {
    const { open, service, clock } = createSessionRig({
      settings: { maxAudioBytes: 100, pressure: PRESSURE },
    });
    const [notified, fresh] = [open(legacyOpening()), open(legacyOpening())];
    notified.say('x'.repeat(85));
    service.drain(LIMITS);
    expect(notified.link.of('pressure')).toMatchObject([{ resumeAfterMs: 2_000 }]);
    expect(fresh.link.of('pressure')).toMatchObject([{ resumeAfterMs: LIMITS.limitMs }]);
    await clock.advance(2_500);
    fresh.say('x'.repeat(85));
    expect(fresh.link.of('pressure')).toHaveLength(1);
  });

  it('waits for a job that is found under another name', async () => {
    const { open, dispatcher, service } = createSessionRig({ settings: { resumeTtlMs: 0 } });
    const first = open();
    first.utter('hello', { requestId: 'r1' });
    const job = dispatcher.job();
    await job.dispatch();
    const second = open();
    second.utter('hello', { requestId: 'r1' });
    const repeated = dispatcher.job();
    const isEnded = watched(service.drain(LIMITS).ended);
    first.leave();
    await repeated.repeat(job);
    expect(await isEnded()).toBe(false);
    job.finish();
    expect(await isEnded()).toBe(true);
  });

  it('is over for a session that comes back all the same', () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    service.drain(LIMITS);
    client.leave();
    client.resume().speak('a');
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('does not keep a closing session from its end', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('a');
    client.send({ kind: 'close' });
    service.drain(LIMITS);
    await dispatcher.job().succeed();
    expect(client.link.lines().slice(-2)).toEqual(['outcome 0:a', 'closed']);
    expect(service.counts().sessions).toBe(0);
  });

  it('still lets a session be closed', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('a');
    service.drain(LIMITS);
    client.send({ kind: 'close' });
    await dispatcher.job().succeed();
    expect(client.link.lines().slice(-2)).toEqual(['outcome 0:a', 'closed']);
  });
});

describe('stopping', () => {
  it('leaves no timer behind', async () => {
    const { open, service, clock, dispatcher } = createSessionRig();
    const client = open();
    client.say('a');
    open().leave();
    service.stop();
    expect(clock.pending()).toBe(0);
    client.speak('b');
    await dispatcher.job().succeed();
    expect(clock.pending()).toBe(0);
  });
});
