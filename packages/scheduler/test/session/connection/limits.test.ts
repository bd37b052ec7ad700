import { describe, expect, it } from 'vitest';
import { createSessionRig, legacyOpening, opening, PRESSURE, SETTINGS } from '../support/session-rig.ts';

describe('limits of a session', () => {
  it('audio above the session’s limit is refused; earlier audio is translated', async () => {
    const { open, dispatcher, audio } = createSessionRig({ settings: { maxAudioBytes: 10 } });
    const client = open();
    client.say('12345678');
    client.say('too much', { seq: 77 });
    expect(dispatcher.job().text).toBe('12345678');
    expect(dispatcher.job().request.spec.cut).toBe('max_duration');
    expect(client.link.of('error')).toMatchObject([{ code: 'RATE_LIMITED', details: { seq: 77 } }]);
    await dispatcher.job().succeed();
    client.say('1234567890', { isFinal: true, requestId: 'r' });
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:12345678', '1:1234567890']);
    expect(audio.size()).toBe(0);
  });

  it('a refused chunk may be sent again with its number', async () => {
    const { open, dispatcher } = createSessionRig({ settings: { maxAudioBytes: 10 } });
    const client = open();
    client.say('12345678', { seq: 1 });
    client.say('again', { seq: 2 });
    await dispatcher.job().succeed();
    client.say('again', { seq: 2, isFinal: true, requestId: 'r' });
    expect(dispatcher.job().text).toBe('again');
  });

  it('audio above the store’s limit is refused, also to a legacy client', async () => {
    const { open, dispatcher, audio, clock } = createSessionRig({ audioBytes: 10 });
    const [client, other] = [open(legacyOpening()), open(legacyOpening())];
    client.say('123456');
    other.say('123456');
    expect(other.link.of('error')).toMatchObject([{ code: 'RATE_LIMITED' }]);
    expect(audio.size()).toBe(6);
    await clock.advance(1_150);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:123456']);
    expect(audio.size()).toBe(0);
  });

  it('an utterance refused by a full audio store has one outcome', async () => {
    const { open, dispatcher } = createSessionRig({ audioBytes: 10 });
    const client = open();
    client.utter('12345678');
    client.utter('12345678');
    for (const job of dispatcher.jobs) await job.succeed();
    expect(client.link.outcomes()).toEqual(['0:12345678', '1!job_failed']);
    expect(client.link.of('error')).toMatchObject([{ code: 'RATE_LIMITED' }]);
  });

  it('audio that would never fit is refused for good and named, and the stream continues', async () => {
    const { open, dispatcher, audio } = createSessionRig({ settings: { maxAudioBytes: 10 } });
    const client = open();
    client.utter('12345678901', { requestId: 'r1', index: 4 });
    client.say('12345678901', { seq: 2, isFinal: true, requestId: 'r3' });
    expect(client.link.of('error')).toMatchObject([
      { code: 'INVALID_MESSAGE', details: { path: '/audio', request_id: 'r1', utterance_index: 4 } },
      { code: 'INVALID_MESSAGE', details: { path: '/payload', request_id: 'r3', first_seq: 2, last_seq: 2 } },
    ]);
    client.say('12345', { seq: 3, isFinal: true, requestId: 'r2' });
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:12345']);
    expect(audio.size()).toBe(0);
  });

  it('a whole utterance above the limit is refused and takes no index', async () => {
    const { open, dispatcher } = createSessionRig({ settings: { maxAudioBytes: 10 } });
    const client = open();
    client.utter('12345678', { requestId: 'r1' });
    client.utter('12345678', { requestId: 'r2' });
    expect(client.link.of('error')).toMatchObject([{ code: 'RATE_LIMITED', details: { request_id: 'r2' } }]);
    await dispatcher.job().succeed();
    client.utter('12345678', { requestId: 'r2' });
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:12345678', '1:12345678']);
  });

  it('chunks behind a refused one are refused until it is resent', async () => {
    const { open, dispatcher } = createSessionRig({ settings: { maxAudioBytes: 100 } });
    const client = open();
    client.say('x'.repeat(95), { seq: 1 });
    client.say('refused!', { seq: 2 });
    client.say('z', { seq: 3 });
    expect(client.link.of('error').map(({ details }) => details)).toEqual([{ seq: 2 }, { seq: 3 }]);
    await dispatcher.job().succeed();
    client.say('refused!', { seq: 2 });
    client.say('z', { seq: 3, isFinal: true, requestId: 'r' });
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual([`0:${'x'.repeat(95)}`, '1:refused!z']);
  });

  it('later chunks are accepted after a while without the refused one', async () => {
    const { open, dispatcher, clock } = createSessionRig({ settings: { maxAudioBytes: 100 } });
    const client = open();
    client.say('x'.repeat(95), { seq: 1 });
    client.say('refused!', { seq: 2 });
    await dispatcher.job().succeed();
    client.say('a', { seq: 3, isFinal: true, requestId: 'r' });
    expect(dispatcher.jobs).toHaveLength(1);
    await clock.advance(10_000);
    client.say('b', { seq: 4, isFinal: true, requestId: 'r' });
    expect(dispatcher.jobs).toHaveLength(2);
  });

  it('a refused resend restarts the wait for it', async () => {
    const { open, dispatcher, clock } = createSessionRig({ settings: { maxAudioBytes: 100 } });
    const client = open();
    client.say('x'.repeat(95), { seq: 1 });
    client.say('refused!', { seq: 2 });
    for (let times = 0; times < 3; times += 1) {
      await clock.advance(6_000);
      client.say('refused!', { seq: 2 });
      client.say('z', { seq: 3 });
    }
    await dispatcher.job().succeed();
    client.say('refused!', { seq: 2 });
    client.say('z', { seq: 3, isFinal: true, requestId: 'r' });
    expect(dispatcher.job().text).toBe('refused!z');
  });

  it('the next refused chunk starts its own wait', async () => {
    const { open, dispatcher, clock } = createSessionRig({ settings: { maxAudioBytes: 100 } });
    const client = open();
    client.say('x'.repeat(95), { seq: 1 });
    client.say('refused!', { seq: 2 });
    await clock.advance(10_000);
    client.say('refused, too', { seq: 3 });
    client.say('z', { seq: 4 });
    await dispatcher.job().succeed();
    client.say('refused, too', { seq: 3 });
    client.say('z', { seq: 4, isFinal: true, requestId: 'r' });
    expect(dispatcher.job().text).toBe('refused, tooz');
  });

  it('utterances above the limit do not displace running ones', async () => {
    const { open, dispatcher } = createSessionRig({
      settings: { maxUtterances: 2, delivery: { ...SETTINGS.delivery, maxPendingResults: 3 } },
    });
    const client = open();
    for (let count = 0; count < 20; count += 1) client.speak(`${count}`);
    expect(dispatcher.cancelled).toEqual([]);
    for (const job of dispatcher.jobs) await job.succeed();
    expect(client.link.outcomes().slice(0, 3)).toEqual(['0:0', '1:1', '2!job_failed']);
  });

  it('an utterance above the limit fails at once, in order', async () => {
    const { open, dispatcher, audio } = createSessionRig({ settings: { maxUtterances: 2 } });
    const client = open();
    for (const text of ['a', 'b', 'c']) client.speak(text);
    expect(dispatcher.jobs).toHaveLength(2);
    expect(client.link.of('error')).toMatchObject([
      { code: 'RATE_LIMITED', details: { utterance_index: 2 } },
    ]);
    expect(client.link.outcomes()).toEqual([]);
    for (const job of dispatcher.jobs) await job.succeed();
    expect(client.link.outcomes()).toEqual(['0:a', '1:b', '2!job_failed']);
    expect(audio.size()).toBe(0);
    client.speak('d');
    await dispatcher.job().succeed();
    expect(client.link.outcomes().at(-1)).toBe('3:d');
  });

  it('sessions above the limit are refused', () => {
    const { open, service } = createSessionRig({ settings: { maxSessions: 1 } });
    const client = open();
    expect(service.isFull()).toBe(true);
    expect(service.open(opening(), client.link)).toMatchObject({ kind: 'full', limit: 'instance' });
    client.leave();
    expect(client.resume().sessionId).toBe(client.sessionId);
  });

  it('the longest disconnected session is evicted for a new one', async () => {
    const { open, service, dispatcher, audio, clock, counts } = createSessionRig({
      settings: { maxSessions: 2 },
    });
    const [first, second] = [open(), open()];
    first.speak('lost');
    second.speak('kept');
    first.leave();
    await clock.advance(10);
    second.leave();
    expect(service.isFull()).toBe(false);
    const third = open();
    expect(third.sessionId).not.toBe(first.sessionId);
    expect(dispatcher.cancelled).toMatchObject([{ code: 'SESSION_CLOSED' }]);
    expect(second.resume().sessionId).toBe(second.sessionId);
    expect(service.isFull()).toBe(true);
    expect(service.open(opening(), third.link)).toMatchObject({ kind: 'full', limit: 'instance' });
    expect(counts.get('scheduler_sessions_ended_total evicted')).toBe(1);
    await dispatcher.jobs[1]?.succeed();
    expect(audio.size()).toBe(0);
  });

  it('the result limit evicts the longest disconnected session', async () => {
    const { open, dispatcher, service } = createSessionRig({ settings: { maxResultBytesTotal: 1_200 } });
    const [first, second] = [open(), open()];
    for (const client of [first, second]) client.speak('a');
    for (const client of [first, second]) client.leave();
    for (const job of dispatcher.jobs) await job.succeed();
    expect(service.counts()).toMatchObject({ sessions: 2 });
    const third = open();
    third.speak('b');
    await dispatcher.job('b').succeed();
    expect(service.counts()).toMatchObject({ sessions: 2 });
    expect(service.counts().resultBytes).toBeLessThanOrEqual(1_200);
    expect(second.resume().link.outcomes()).toEqual(['0:a']);
    expect(first.resume().sessionId).not.toBe(first.sessionId);
  });

  it('only the opening credential may send events to a session', () => {
    const { open, service, dispatcher } = createSessionRig();
    const { sessionId } = open(opening({ credential: 'mine' }));
    const utterance = { kind: 'chunk', seq: 0, audio: Buffer.from('a'), isFinal: true } as const;
    expect(service.receive(sessionId, 'yours', utterance)).toBe('unknown');
    expect(service.receive('s-nobody', 'mine', utterance)).toBe('unknown');
    expect(service.receive(sessionId, 'mine', { ...utterance, requestId: 'r' })).toBe('taken');
    expect(dispatcher.jobs).toHaveLength(1);
  });
});

describe('backpressure', () => {
  it('SLOW_DOWN, then PAUSE come before the audio limit', async () => {
    const { open, clock } = createSessionRig({
      settings: { maxAudioBytes: 100, pressure: PRESSURE },
    });
    const client = open();
    client.say('x'.repeat(49));
    expect(client.link.of('pressure')).toEqual([]);
    client.say('x');
    await clock.advance(500);
    client.say('x'.repeat(30));
    client.say('x');
    expect(client.link.lines().slice(1)).toEqual(['pressure SLOW_DOWN 2000', 'pressure PAUSE 2000']);
  });

  it('PAUSE suspends the pause rule', async () => {
    const { open, clock, dispatcher } = createSessionRig({
      settings: { maxAudioBytes: 100, pressure: PRESSURE },
    });
    const client = open();
    client.say('x'.repeat(85));
    expect(client.link.of('pressure')).toMatchObject([{ action: 'PAUSE' }]);
    await clock.advance(2_900);
    client.say('and on');
    expect(dispatcher.jobs).toHaveLength(0);
    await clock.advance(1_000 + 2_000 + 200);
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('a speaker with too many open utterances in its room is asked to PAUSE', () => {
    let isFull = false;
    const { open } = createSessionRig({
      settings: { pressure: PRESSURE },
      voiceInRoom: () => ({ kind: 'speaks', language: 'en', isFull }),
    });
    const client = open();
    client.say('one');
    expect(client.link.of('pressure')).toEqual([]);
    isFull = true;
    client.say('two');
    expect(client.link.of('pressure')).toMatchObject([{ action: 'PAUSE' }]);
  });

  it('a growing queue of the fleet gives BUSY', () => {
    const { open, dispatcher } = createSessionRig({ settings: { pressure: PRESSURE } });
    const client = open();
    dispatcher.setWaiting(50);
    client.send({ kind: 'heartbeat' });
    expect(client.link.lines().slice(1)).toEqual(['heartbeat', 'pressure BUSY 2000']);
  });

  it('a legacy client gets only PAUSE, at least 500 ms apart', async () => {
    const { open, dispatcher, clock } = createSessionRig({
      settings: { pressure: { ...PRESSURE, resumeAfterMs: 100 } },
    });
    const client = open(legacyOpening());
    dispatcher.setWaiting(79);
    client.send({ kind: 'heartbeat' });
    dispatcher.setWaiting(80);
    for (let beat = 0; beat < 10; beat++) {
      client.send({ kind: 'heartbeat' });
      await clock.advance(100);
    }
    expect(client.link.of('pressure').map(({ action }) => action)).toEqual(['PAUSE', 'PAUSE']);
  });

  it('backpressure follows the utterances without a slot', async () => {
    const { open, dispatcher, clock } = createSessionRig({ settings: { pressure: PRESSURE } });
    const client = open();
    for (let count = 0; count < 5; count++) client.speak(`${count}`);
    // It is unknown yet whether there are free slots.
    expect(client.link.of('pressure')).toEqual([]);
    await clock.advance(100);
    client.send({ kind: 'heartbeat' });
    expect(client.link.of('pressure').map(({ action }) => action)).toEqual(['SLOW_DOWN']);
    for (const job of dispatcher.jobs) await job.dispatch();
    const sent = client.link.of('pressure').length;
    client.send({ kind: 'heartbeat' });
    expect(client.link.of('pressure')).toHaveLength(sent);
  });
});
