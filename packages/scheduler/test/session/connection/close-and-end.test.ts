import { describe, expect, it } from 'vitest';
import { createSessionRig, legacyOpening, opening, SETTINGS } from '../support/session-rig.ts';

describe('closing a session', () => {
  it('closing translates the open audio and is answered after the last outcome', async () => {
    const { open, dispatcher, service, audio, clock } = createSessionRig();
    const client = open();
    client.speak('a');
    client.say('b');
    client.send({ kind: 'close' });
    expect(dispatcher.jobs.map(({ text }) => text)).toEqual(['a', 'b']);
    await dispatcher.job('b').succeed();
    expect(client.link.lines()).not.toContain('closed');
    await dispatcher.job('a').succeed();
    expect(client.link.lines().slice(-3)).toEqual(['outcome 0:a', 'outcome 1:b', 'closed']);
    expect(service.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
    expect(audio.size()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('an operator closes a session after its last outcome, with its connection', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('a');
    expect(service.close('s-none')).toBe(false);
    expect(service.close(client.sessionId)).toBe(true);
    expect(service.list({ limit: 1 }).sessions).toMatchObject([{ phase: 'closing' }]);
    await dispatcher.job('a').succeed();
    expect(client.link.lines().slice(-2)).toEqual(['outcome 0:a', 'closed']);
    expect(client.link.sent.at(-1)).toEqual({ kind: 'closed', isOrdered: true });
    expect(service.counts().sessions).toBe(0);
  });

  it('closing is answered after all outcomes were sent', async () => {
    const { open, dispatcher } = createSessionRig({
      settings: { delivery: { ...SETTINGS.delivery, maxPendingBytes: 2_000 } },
    });
    const client = open();
    for (const text of ['a', 'b']) {
      client.speak(text);
      await dispatcher.job().dispatch();
      dispatcher.job().finish({ ttsAudio: 'x'.repeat(1_000) });
    }
    client.send({ kind: 'close' });
    expect(client.link.outcomes()).toEqual(['0:a']);
    expect(client.link.lines()).not.toContain('closed');
    client.send({ kind: 'acknowledged', deliverySeq: 1 });
    expect(client.link.lines().slice(-2)).toEqual(['outcome 1:b', 'closed']);
  });

  it('closing without a client and open utterances ends at once', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('a');
    client.leave();
    await dispatcher.job().succeed();
    client.send({ kind: 'close' });
    expect(service.counts().sessions).toBe(0);
  });

  it('closing without open utterances is answered at once', () => {
    const { open } = createSessionRig();
    const client = open(legacyOpening());
    client.send({ kind: 'close' });
    expect(client.link.lines()).toEqual(['opened', 'closed']);
    expect(client.send({ kind: 'heartbeat' })).toBe('unknown');
  });

  it('a closing session refuses audio, without an error to legacy clients', async () => {
    const { open, dispatcher, audio, clock } = createSessionRig();
    const client = open();
    const old = open(legacyOpening());
    client.speak('a');
    old.say('b', { isFinal: true });
    await clock.advance(200);
    for (const one of [client, old]) {
      one.send({ kind: 'close' });
      one.say('late');
      one.utter('late');
      one.send({ kind: 'close' });
    }
    expect(client.link.of('error').map(({ code }) => code)).toEqual(['SESSION_CLOSED', 'SESSION_CLOSED']);
    expect(old.link.of('error')).toEqual([]);
    expect(dispatcher.jobs).toHaveLength(2);
    for (const job of dispatcher.jobs) await job.succeed();
    expect(audio.size()).toBe(0);
  });

  it('a closing session ends with its connection', async () => {
    const { open, dispatcher, service, clock } = createSessionRig();
    const client = open();
    client.speak('a');
    client.send({ kind: 'close' });
    client.leave();
    expect(service.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
    expect(dispatcher.cancelled).toHaveLength(1);
    await dispatcher.job().dispatch();
    expect(dispatcher.cancelled).toHaveLength(2);
    expect(clock.pending()).toBe(0);
  });

  it('nothing is sent after the end', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.speak('a');
    await dispatcher.job().succeed();
    client.send({ kind: 'close' });
    dispatcher.job().fail('PROCESSING_ERROR');
    await clock.advance(100_000);
    expect(client.link.sent.at(-1)?.kind).toBe('closed');
  });
});

describe('a session that ends', () => {
  it('an ending session does not cancel a job shared with another', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const first = open();
    first.utter('hello', { requestId: 'r1' });
    const job = dispatcher.job();
    await job.dispatch();
    const second = open();
    second.utter('hello', { requestId: 'r1' });
    await dispatcher.job().repeat(job);
    expect(service.counts().watched).toBe(1);
    first.send({ kind: 'close' });
    first.leave();
    expect(dispatcher.cancelled).toEqual([]);
    job.finish();
    expect(second.link.outcomes()).toEqual(['0:hello']);
    expect(second.link.of('outcome')[0]?.delivered.utterance.jobId).toBe(job.jobId);
    expect(service.counts()).toMatchObject({ sessions: 1, connected: 1, watched: 0 });
  });

  it('the last session that waits for a job cancels it', async () => {
    const { open, dispatcher } = createSessionRig({ settings: { resumeTtlMs: 0 } });
    const [first, second] = [open(), open()];
    first.utter('hello', { requestId: 'r1' });
    const job = dispatcher.job();
    await job.dispatch();
    second.utter('hello', { requestId: 'r1' });
    await dispatcher.job().repeat(job);
    first.leave();
    second.leave();
    expect(dispatcher.cancelled.map(({ jobId }) => jobId)).toEqual([job.jobId]);
  });

  it('two sessions of one job both get its result', async () => {
    const { open, dispatcher } = createSessionRig();
    const [first, second] = [open(), open()];
    first.utter('hello', { requestId: 'r1' });
    const job = dispatcher.job();
    await job.dispatch();
    second.utter('hello', { requestId: 'r1' });
    await dispatcher.job().repeat(job);
    job.move('RUNNING');
    job.finish();
    for (const { link } of [first, second]) expect(link.outcomes()).toEqual(['0:hello']);
  });

  it('a repeated request of a settled job has its outcome at once', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const [first, second] = [open(), open()];
    first.utter('hello', { requestId: 'r1' });
    const job = dispatcher.job();
    await job.succeed();
    second.utter('hello', { requestId: 'r1' });
    await dispatcher.job().repeat(job);
    expect(second.link.outcomes()).toEqual(['0:hello']);
    expect(service.counts().watched).toBe(0);
  });

  it('a job that gets another id after the end is cancelled', async () => {
    const { open, dispatcher, service } = createSessionRig({ settings: { resumeTtlMs: 0 } });
    const other = open();
    other.utter('hello', { requestId: 'r1' });
    const job = dispatcher.job();
    await job.dispatch();
    const client = open();
    client.utter('hello', { requestId: 'r1' });
    const repeated = dispatcher.job();
    client.leave();
    other.leave();
    await repeated.repeat(job);
    expect(dispatcher.cancelled.at(-1)?.jobId).toBe(job.jobId);
    expect(service.counts().watched).toBe(0);
  });
});

describe('request ids', () => {
  it('a conflicting request id of chunks gets a job without binding', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.say('hello', { requestId: 'r1', isFinal: true });
    expect(dispatcher.job().request.requestId).toBe('r1:0');
    await dispatcher.job().refuse('IDEMPOTENCY_CONFLICT');
    expect(dispatcher.jobs).toHaveLength(2);
    expect(dispatcher.job().request).not.toHaveProperty('requestId');
    expect(dispatcher.job().request).not.toHaveProperty('fingerprint');
    expect(dispatcher.job().request).not.toHaveProperty('jobId');
    // It is admitted under its new id before any other event of it.
    dispatcher.job().admit();
    const [accepted] = client.link.of('accepted');
    expect(accepted?.utterance.jobId).toBe(dispatcher.job().jobId);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0:hello']);
  });

  it('a conflicting request id of a whole utterance is refused', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.utter('hello', { requestId: 'r1' });
    await dispatcher.job().refuse('IDEMPOTENCY_CONFLICT');
    expect(client.link.of('error')).toMatchObject([{ code: 'IDEMPOTENCY_CONFLICT' }]);
    expect(client.link.outcomes()).toEqual(['0!job_failed']);
  });

  it('a repeated request makes no second job and no second outcome', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open(opening({ abilities: new Set() }));
    client.utter('hello', { requestId: 'r1' });
    client.utter('hello', { requestId: 'r1' });
    await dispatcher.job().succeed();
    client.utter('hello', { requestId: 'r1' });
    expect(dispatcher.jobs).toHaveLength(1);
    expect(client.link.outcomes()).toEqual(['0:hello']);
  });

  it.each([
    ['acknowledged', undefined],
    ['sent to a client without acknowledgements', opening({ abilities: new Set() })],
  ])('a failed request may be tried again after the failure was %s', async (_, how) => {
    const { open, dispatcher } = createSessionRig();
    const client = open(how);
    client.utter('hello', { requestId: 'r1' });
    await dispatcher.job().refuse('ALL_CANDIDATES_FULL_OR_FAILED');
    if (how === undefined) client.send({ kind: 'acknowledged', deliverySeq: 1 });
    client.utter('hello', { requestId: 'r1' });
    expect(dispatcher.jobs).toHaveLength(2);
    await dispatcher.job().succeed();
    expect(client.link.outcomes()).toEqual(['0!job_failed', '1:hello']);
  });

  it('acknowledging an earlier outcome does not allow another try', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    for (const requestId of ['r1', 'r2']) {
      client.utter('hello', { requestId });
      await dispatcher.job().refuse('ALL_CANDIDATES_FULL_OR_FAILED');
    }
    client.send({ kind: 'acknowledged', deliverySeq: 1 });
    client.utter('hello', { requestId: 'r2' });
    expect(dispatcher.jobs).toHaveLength(2);
    expect(client.link.outcomes()).toEqual(['0!job_failed', '1!job_failed']);
  });

  it('a failed request that is resent before its failure arrives has one outcome', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.utter('hello', { requestId: 'r1' });
    client.leave();
    await dispatcher.job().refuse('ALL_CANDIDATES_FULL_OR_FAILED');
    const again = client.resume();
    again.utter('hello', { requestId: 'r1' });
    expect(dispatcher.jobs).toHaveLength(1);
    expect(again.link.outcomes()).toEqual(['0!job_failed']);
  });
});
