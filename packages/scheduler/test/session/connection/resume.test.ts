import { describe, expect, it } from 'vitest';
import { createSessionRig, legacyOpening, opening, SETTINGS } from '../support/session-rig.ts';

const seqsOf = (sent: readonly { delivered: { deliverySeq: number } }[]) =>
  sent.map(({ delivered }) => delivered.deliverySeq);

describe('a resumed session', () => {
  it('a resumed session keeps its id, numbering, results and jobs', async () => {
    const { open, dispatcher, clock, service } = createSessionRig();
    const client = open();
    client.speak('a');
    client.speak('b');
    client.leave();
    await clock.advance(30_000);
    await dispatcher.job('b').succeed();
    await dispatcher.job('a').succeed();
    expect(dispatcher.cancelled).toEqual([]);
    const again = client.resume();
    expect(again.sessionId).toBe(client.sessionId);
    expect(again.link.outcomes()).toEqual(['0:a', '1:b']);
    expect(seqsOf(again.link.of('outcome'))).toEqual([1, 2]);
    expect(again.link.of('opened')).toMatchObject([{ isResumed: true, resumeToken: undefined }]);
    again.speak('c');
    await dispatcher.job('c').succeed();
    expect(again.link.outcomes().at(-1)).toBe('2:c');
    expect(client.link.outcomes()).toEqual([]);
    expect(service.counts()).toMatchObject({ sessions: 1, connected: 1, watched: 0 });
  });

  it('a resumed session does not expire', async () => {
    const { open, clock, service } = createSessionRig();
    const client = open();
    client.leave();
    await clock.advance(59_000);
    const again = client.resume();
    await clock.advance(120_000);
    expect(service.counts()).toMatchObject({ sessions: 1, connected: 1 });
    again.leave();
    await clock.advance(59_999);
    expect(service.counts().sessions).toBe(1);
  });

  it('unacknowledged results are sent again before new ones', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    for (const text of ['a', 'b', 'c', 'd']) client.speak(text);
    for (const text of ['a', 'b', 'c']) await dispatcher.job(text).succeed();
    client.send({ kind: 'acknowledged', deliverySeq: 1 });
    client.leave();
    await dispatcher.job('d').succeed();
    const again = client.resume();
    expect(again.link.outcomes()).toEqual(['1:b', '2:c', '3:d']);
    expect(seqsOf(again.link.of('outcome'))).toEqual([2, 3, 4]);
    again.send({ kind: 'acknowledged', deliverySeq: 4 });
    again.leave();
    expect(again.resume().link.outcomes()).toEqual([]);
  });

  it('results beyond the connection’s limit follow the acknowledgements', async () => {
    // One result weighs a little over 512 bytes.
    const { open, dispatcher } = createSessionRig({
      settings: { delivery: { ...SETTINGS.delivery, maxPendingBytes: 1_200 } },
    });
    const client = open();
    for (const text of ['a', 'b', 'c', 'd', 'e']) client.speak(text);
    client.leave();
    for (const text of ['a', 'b', 'c', 'd', 'e']) await dispatcher.job(text).succeed();
    const again = client.resume();
    expect(seqsOf(again.link.of('outcome'))).toEqual([1, 2]);
    again.send({ kind: 'acknowledged', deliverySeq: 1 });
    expect(seqsOf(again.link.of('outcome'))).toEqual([1, 2, 3]);
    again.send({ kind: 'acknowledged', deliverySeq: 3 });
    expect(again.link.outcomes()).toEqual(['0:a', '1:b', '2:c', '3:d', '4:e']);
  });

  it('a client without acknowledgements gets missed results once', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open(opening({ abilities: new Set() }));
    client.speak('a');
    client.speak('b');
    await dispatcher.job('a').succeed();
    expect(client.link.outcomes()).toEqual(['0:a']);
    client.leave();
    await dispatcher.job('b').succeed();
    const again = client.resume();
    expect(again.link.outcomes()).toEqual(['1:b']);
    again.leave();
    expect(again.resume().link.outcomes()).toEqual([]);
  });

  it('acceptances are sent again after a resume', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('a');
    client.speak('b');
    client.speak('c');
    dispatcher.job('a').admit();
    await dispatcher.job('b').succeed();
    client.leave();
    dispatcher.job('c').admit();
    const again = client.resume();
    expect(again.link.lines()).toEqual(['resumed', 'accepted 0', 'accepted 1', 'accepted 2']);
    await dispatcher.job('a').succeed();
    again.leave();
    expect(again.resume().link.lines()).toEqual([
      'resumed',
      'accepted 0',
      'accepted 1',
      'accepted 2',
      'outcome 0:a',
      'outcome 1:b',
    ]);
  });

  it('a newer connection replaces an open one', async () => {
    const { open, dispatcher, service, clock } = createSessionRig();
    const client = open();
    client.speak('a');
    const again = client.resume();
    expect(client.link.isReplaced()).toBe(true);
    client.leave();
    await dispatcher.job('a').succeed();
    expect(again.link.outcomes()).toEqual(['0:a']);
    expect(client.link.outcomes()).toEqual([]);
    await clock.advance(120_000);
    expect(service.counts()).toMatchObject({ sessions: 1, connected: 1 });
  });

  it('an open utterance continues after a resume', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.say('good ');
    client.leave();
    await clock.advance(50_000);
    const again = client.resume();
    again.say('morning');
    await clock.advance(1_150);
    expect(dispatcher.jobs.map(({ text }) => text)).toEqual(['good morning']);
    expect(client.link.ui().concat(again.link.ui())).toEqual(['INPUT_STARTED 0', 'INPUT_ENDED 0']);
  });

  it('repeated chunks are ignored and new ones accepted', async () => {
    const { open, dispatcher, counts } = createSessionRig();
    const client = open();
    client.say('a', { seq: 10, requestId: 'r' });
    client.say('b', { seq: 11, requestId: 'r' });
    client.leave();
    const again = client.resume();
    again.say('a', { seq: 10, requestId: 'r' });
    again.say('b', { seq: 11, requestId: 'r' });
    again.say('c', { seq: 12, requestId: 'r', isFinal: true });
    expect(dispatcher.jobs.map(({ text }) => text)).toEqual(['abc']);
    expect(counts.get('scheduler_session_messages_dropped_total repeated_chunk')).toBe(2);
  });

  it('I3 one outcome: slowly repeated chunks do not cut a sentence', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    for (const seq of [1, 2, 3, 4]) client.say('a', { seq, requestId: 'earlier', isFinal: seq === 4 });
    client.say('good ', { seq: 5, requestId: 'later' });
    client.leave();
    const again = client.resume();
    for (const seq of [1, 2, 3, 4]) {
      await clock.advance(500);
      again.say('a', { seq, requestId: 'earlier', isFinal: seq === 4 });
    }
    await clock.advance(500);
    again.say('good ', { seq: 5, requestId: 'later' });
    await clock.advance(500);
    again.say('morning', { seq: 6, requestId: 'later', isFinal: true });
    expect(dispatcher.jobs.map(({ text }) => text)).toEqual(['aaaa', 'good morning']);
  });

  it('a repeated utterance is accepted again without a second job', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.utter('hello', { requestId: 'r1' });
    dispatcher.job().admit();
    client.leave();
    const again = client.resume();
    again.link.forget();
    again.utter('hello', { requestId: 'r1' });
    expect(dispatcher.jobs).toHaveLength(1);
    expect(again.link.lines()).toEqual(['accepted 0']);
    await dispatcher.job().succeed();
    expect(again.link.outcomes()).toEqual(['0:hello']);
  });
});

describe('a session is not resumed', () => {
  const strangers = {
    'with another token': (token: string) => opening({ resume: { sessionId: '', token: `${token}x` } }),
    'by another tenant': (token: string) => opening({ tenantId: 'other', resume: { sessionId: '', token } }),
    'without a token': () => opening({ resume: { sessionId: '', token: '' } }),
  };
  for (const [how, make] of Object.entries(strangers)) {
    it(`a resume ${how} opens a new session`, async () => {
      const { open, dispatcher, service } = createSessionRig();
      const client = open();
      client.speak('a');
      client.leave();
      const given = make(client.link.token() ?? '');
      const stranger = open({
        ...given,
        resume: { sessionId: client.sessionId, token: given.resume?.token ?? '' },
      });
      expect(stranger.sessionId).not.toBe(client.sessionId);
      expect(stranger.link.of('opened')).toMatchObject([{ isResumed: false }]);
      await dispatcher.job().succeed();
      expect(stranger.link.outcomes()).toEqual([]);
      expect(client.resume().link.outcomes()).toEqual(['0:a']);
      expect(service.counts()).toMatchObject({ sessions: 2, connected: 2 });
    });
  }

  it('an expired session ended and its jobs are cancelled', async () => {
    const { open, dispatcher, clock, service, audio } = createSessionRig();
    const client = open();
    client.speak('running');
    client.say('open');
    await dispatcher.job().dispatch();
    client.leave();
    expect(audio.size()).toBeGreaterThan(0);
    await clock.advance(59_999);
    expect(service.counts().sessions).toBe(1);
    await clock.advance(1);
    expect(service.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
    expect(dispatcher.cancelled).toMatchObject([{ jobId: dispatcher.job().jobId, code: 'SESSION_CLOSED' }]);
    expect(audio.size()).toBe(0);
    expect(clock.pending()).toBe(0);
    const again = client.resume();
    expect(again.sessionId).not.toBe(client.sessionId);
    dispatcher.job().finish();
    expect(again.link.outcomes()).toEqual([]);
  });

  it('a session cannot be resumed if resuming is off', () => {
    const { open, service } = createSessionRig({ settings: { resumeTtlMs: 0 } });
    const client = open();
    expect(client.link.token()).toBeUndefined();
    client.leave();
    expect(service.counts().sessions).toBe(0);
  });

  it('a closing session cannot be resumed', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('a');
    client.send({ kind: 'close' });
    const again = client.resume();
    expect(again.sessionId).not.toBe(client.sessionId);
    await dispatcher.job().succeed();
    expect(client.link.lines().slice(-2)).toEqual(['outcome 0:a', 'closed']);
  });
});

describe('a session of a legacy client', () => {
  it('a legacy session ends with its connection', async () => {
    const { open, dispatcher, service, audio, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('a', { isFinal: true });
    await clock.advance(200);
    await dispatcher.job().dispatch();
    client.say('half');
    expect(client.link.token()).toBeUndefined();
    client.leave();
    expect(service.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
    expect(dispatcher.cancelled).toMatchObject([
      { jobId: dispatcher.job('a').jobId, code: 'SESSION_CLOSED' },
    ]);
    expect(audio.size()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('a legacy client gets each outcome once, without a number', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('a', { isFinal: true });
    await clock.advance(200);
    await dispatcher.job().succeed();
    dispatcher.job().finish();
    await clock.advance(60_000);
    expect(client.link.of('outcome')).toMatchObject([{ isNumbered: false }]);
  });

  it('a legacy session accepts chunks with any number', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('a', { seq: 70 });
    client.say('b', { seq: 70 });
    client.say('c', { seq: 3 });
    await clock.advance(1_150);
    expect(dispatcher.job().text).toBe('abc');
  });
});
