import { describe, expect, it } from 'vitest';
import { settled } from '../support/scripted-dispatcher.ts';
import { createSessionRig, legacyOpening, opening, PRESSURE } from '../support/session-rig.ts';

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
  it('draining notifies clients, seals audio and ends with the last outcome', async () => {
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

  it('a draining session takes no audio that the client will resend', () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    service.drain(LIMITS);
    client.speak('a');
    client.utter('b');
    expect(dispatcher.jobs).toEqual([]);
    expect(client.link.of('error')).toEqual([]);
  });

  it('draining pauses a legacy client and still takes its audio', async () => {
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

  it('a draining session takes audio that the client cannot resend', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open(opening({ abilities: new Set(['result_ack']) }));
    service.drain(LIMITS);
    client.speak('a');
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('draining ends at its limit', async () => {
    const { open, service, clock } = createSessionRig();
    open().speak('never');
    const isEnded = watched(service.drain(LIMITS).ended);
    await clock.advance(29_999);
    expect(await isEnded()).toBe(false);
    await clock.advance(1);
    expect(await isEnded()).toBe(true);
  });

  it('draining ends at once when no utterance runs', async () => {
    const { open, service, clock } = createSessionRig();
    open();
    expect(await watched(service.drain(LIMITS).ended)()).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  it('the PAUSE of draining is not sent within 500 ms of another', async () => {
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

  it('draining waits for a job that got another id', async () => {
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

  it('a client that resumes ends the draining of its session', () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    service.drain(LIMITS);
    client.leave();
    client.resume().speak('a');
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('draining does not delay the end of a closing session', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('a');
    client.send({ kind: 'close' });
    service.drain(LIMITS);
    await dispatcher.job().succeed();
    expect(client.link.lines().slice(-2)).toEqual(['outcome 0:a', 'closed']);
    expect(service.counts().sessions).toBe(0);
  });

  it('a draining session can be closed', async () => {
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
  it('stopping the service cancels all timers', async () => {
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
