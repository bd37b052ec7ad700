import { describe, expect, it } from 'vitest';
import { createSessionRig, legacyOpening, opening } from '../support/session-rig.ts';

describe('messages about an utterance', () => {
  it('messages follow the stages, the outcome is last', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.say('hel');
    client.say('lo', { isFinal: true, requestId: 'r' });
    const job = dispatcher.job('hello');
    await job.dispatch();
    job.move('RUNNING');
    job.finish();
    expect(client.link.ui()).toEqual([
      'INPUT_STARTED 0',
      'INPUT_ENDED 0',
      'DISPATCHED 0',
      'NODE_ACCEPTED 0',
      'ASR_FINAL 0',
      'NMT_DONE 0',
    ]);
    expect(client.link.lines()).toEqual(['opened', 'accepted 0', 'outcome 0:hello']);
    expect(client.link.sent.at(-1)?.kind).toBe('outcome');
  });

  it('an utterance of one chunk begins with INPUT_STARTED', () => {
    const { open } = createSessionRig();
    const client = open();
    client.speak('hello');
    expect(client.link.ui()).toEqual(['INPUT_STARTED 0', 'INPUT_ENDED 0']);
  });

  it('all messages name the same job and trace', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.say('hello');
    client.say('', { isFinal: true, requestId: 'r' });
    await dispatcher.job().succeed();
    const names = client.link.of('ui_event').map(({ about }) => `${about.jobId} ${about.traceId}`);
    expect(new Set(names).size).toBe(1);
    expect(client.link.of('outcome')[0]?.delivered.utterance.jobId).toBe(dispatcher.job().jobId);
  });

  it('each ui_event is sent once over retries and late moves', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('hello');
    const job = dispatcher.job();
    await job.dispatch();
    job.move('RUNNING');
    job.retry();
    job.retry();
    job.move('RUNNING');
    job.finish();
    job.finish();
    job.move('RELEASED');
    job.fail('PROCESSING_ERROR');
    const events = client.link.ui();
    expect(new Set(events).size).toBe(events.length);
    expect(client.link.outcomes()).toEqual(['0:hello']);
    expect(client.link.of('error')).toEqual([]);
  });

  it('missed stages are sent before later ones', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('hello');
    dispatcher.job().move('FINISHED', {
      fence: { nodeId: 'node-1', attempt: 1 },
      result: { textAsr: 'a', textTranslated: 'b', ttsAudio: '', ttsFormat: '' },
    });
    expect(client.link.ui(0).slice(-4)).toEqual([
      'DISPATCHED 0',
      'NODE_ACCEPTED 0',
      'ASR_FINAL 0',
      'NMT_DONE 0',
    ]);
    await dispatcher.job().dispatch();
    expect(client.link.outcomes()).toEqual(['0:a']);
    expect(client.link.ui(0).filter((event) => event === 'DISPATCHED 0')).toHaveLength(1);
  });

  it('partial texts follow the earlier stages', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('hello');
    const { jobId } = dispatcher.job();
    await dispatcher.job().dispatch();
    service.partial(jobId, 'he', false);
    service.partial(jobId, 'hello', true);
    dispatcher.job().finish();
    service.partial(jobId, 'too late', true);
    expect(client.link.lines().slice(2)).toEqual(['partial 0 he', 'partial 0 hello', 'outcome 0:hello']);
    expect(client.link.ui(0).slice(2)).toEqual([
      'DISPATCHED 0',
      'NODE_ACCEPTED 0',
      'ASR_PARTIAL 0',
      'ASR_FINAL 0',
      'NMT_DONE 0',
    ]);
  });

  it('I5 order: outcomes follow the utterance order', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    for (const text of ['a', 'b', 'c']) client.speak(text);
    for (const text of ['c', 'a', 'b']) await dispatcher.job(text).succeed();
    expect(client.link.outcomes()).toEqual(['0:a', '1:b', '2:c']);
    expect(client.link.of('outcome').map(({ delivered }) => delivered.deliverySeq)).toEqual([1, 2, 3]);
  });

  it('playback events name the last utterance of the group', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.speak('hello');
    await dispatcher.job().succeed();
    const [first] = client.link.of('outcome');
    const groupId = first?.delivered.utterance.groupId ?? '';
    expect(groupId).not.toBe('');
    client.send({ kind: 'playback_started', groupId });
    client.send({ kind: 'playback_ended', groupId });
    client.send({ kind: 'playback_ended', groupId: 'nobody’s' });
    expect(client.link.ui().slice(-2)).toEqual(['TTS_PLAY_STARTED 0', 'TTS_PLAY_ENDED 0']);
    await clock.advance(2_000);
    client.speak('again');
    expect(dispatcher.job().request.spec).toMatchObject({ groupId, partIndex: 1, contextText: 'hello' });
  });
});

describe('an utterance that fails', () => {
  it('a failure gives an SDK client missing_result, ui_event and error', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('hello');
    await dispatcher.job().dispatch();
    dispatcher.job().fail('PROCESSING_ERROR');
    expect(client.link.lines()).toEqual([
      'opened',
      'accepted 0',
      'error PROCESSING_ERROR',
      'outcome 0!job_failed',
    ]);
    expect(client.link.ui().at(-1)).toBe('ERROR 0 PROCESSING_ERROR');
    expect(client.link.of('error')[0]?.details).toMatchObject({
      utterance_index: 0,
      job_id: dispatcher.job().jobId,
    });
  });

  it('an acknowledgement timeout is ACK_TIMEOUT, and a code that legacy clients know to them', async () => {
    for (const [how, code] of [
      [opening(), 'ACK_TIMEOUT'],
      [legacyOpening(), 'NODE_UNAVAILABLE'],
    ] as const) {
      const { open, dispatcher, clock } = createSessionRig();
      const client = open(how);
      client.say('hello', { isFinal: true });
      await clock.advance(300);
      await dispatcher.job().dispatch();
      dispatcher.job().fail('ACK_TIMEOUT');
      expect(client.link.ui().at(-1)).toBe(`ERROR 0 ${code}`);
    }
  });

  it('a failure is no error for a legacy client', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('hello', { isFinal: true });
    await clock.advance(300);
    await dispatcher.job().dispatch();
    dispatcher.job().fail('PROCESSING_ERROR');
    expect(client.link.lines()).toEqual(['opened', 'outcome 0!job_failed']);
    expect(client.link.ui().at(-1)).toBe('ERROR 0 PROCESSING_ERROR');
  });

  it('NO_RESULT is a code that legacy clients know, with a hint for people', async () => {
    for (const [how, errorCode, hint] of [
      [opening(), 'NO_RESULT', undefined],
      [legacyOpening(), 'PROCESSING_ERROR', expect.stringMatching(/repeats the one before.*say it again/)],
    ] as const) {
      const { open, dispatcher, clock } = createSessionRig();
      const client = open(how);
      client.say('hello', { isFinal: true });
      await clock.advance(300);
      await dispatcher.job().dispatch();
      dispatcher.job().fail('NO_RESULT');
      expect(client.link.of('ui_event').at(-1)).toMatchObject({ errorCode, hint });
    }
  });

  const REASONS = [
    { reason: 'asr_lang_unsupported', count: 1, sampleNodeIds: ['node-b'] },
    { reason: 'lang_pair_unsupported', count: 3, sampleNodeIds: ['node-a'] },
  ] as const;
  const REFUSAL = { reasons: REASONS, mainReason: 'lang_pair_unsupported', hint: 'the true hint' } as const;

  it('NO_CAPABLE_NODE reaches a session with its code, hint, judged reason and all reasons', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('a');
    await dispatcher.job().refuse('NO_CAPABLE_NODE', REFUSAL);
    expect(client.link.outcomes()).toEqual(['0!job_failed']);
    expect(client.link.of('error')).toMatchObject([
      {
        code: 'NO_CAPABLE_NODE',
        hint: 'the true hint',
        details: {
          reason: 'lang_pair_unsupported',
          reasons: [
            { reason: 'asr_lang_unsupported', count: 1 },
            { reason: 'lang_pair_unsupported', count: 3 },
          ],
          utterance_index: 0,
        },
      },
    ]);
    expect(client.link.of('ui_event').at(-1)).toMatchObject({
      errorCode: 'NO_CAPABLE_NODE',
      hint: 'the true hint',
    });
  });

  it('NO_CAPABLE_NODE reaches a legacy session in its ui_event, without an error', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('hello', { isFinal: true });
    await clock.advance(300);
    await dispatcher.job().refuse('NO_CAPABLE_NODE', REFUSAL);
    expect(client.link.of('error')).toEqual([]);
    expect(client.link.of('ui_event').at(-1)).toMatchObject({
      errorCode: 'NO_CAPABLE_NODE',
      hint: 'the true hint',
    });
  });

  it('ALL_CANDIDATES_FULL_OR_FAILED becomes NO_AVAILABLE_NODE, with the hint and time of its cause', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('a');
    await dispatcher
      .job()
      .refuse('ALL_CANDIDATES_FULL_OR_FAILED', { hint: 'uncordon it', retryAfterMs: 700 });
    expect(client.link.of('error')).toMatchObject([
      {
        code: 'NO_AVAILABLE_NODE',
        hint: 'uncordon it',
        details: { reason: 'all_candidates_full_or_failed', retry_after_ms: 700 },
      },
    ]);
  });

  it('a failure has the job’s code, or PROCESSING_ERROR if unknown', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('a');
    await dispatcher.job().dispatch();
    dispatcher.job().fail('JOB_TIMEOUT');
    client.speak('b');
    await dispatcher.job().dispatch();
    dispatcher.job().fail('SOMETHING_OF_A_NODE');
    expect(client.link.of('error').map(({ code }) => code)).toEqual(['JOB_TIMEOUT', 'PROCESSING_ERROR']);
  });

  it('a failed dispatch call gives a failure', async () => {
    const { open, dispatcher, service } = createSessionRig();
    const client = open();
    client.speak('hello');
    await dispatcher.job().break(new Error('broken'));
    expect(client.link.lines().slice(1)).toEqual([
      'accepted 0',
      'error INTERNAL_ERROR',
      'outcome 0!job_failed',
    ]);
    expect(service.counts().watched).toBe(0);
  });

  it('an empty result is silence_detected without an error', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.speak('hello');
    await dispatcher.job().dispatch();
    dispatcher
      .job()
      .finish({ textAsr: '', textTranslated: '', ttsAudio: '', extra: { reason: 'NO_TEXT_ASSIGNED' } });
    expect(client.link.lines()).toEqual(['opened', 'accepted 0', 'outcome 0!silence_detected']);
    expect(client.link.ui()).not.toContain('ASR_FINAL 0');
    expect(client.link.ui().join()).not.toContain('ERROR');
  });
});

describe('a gap', () => {
  it('a gap is closed 30 s after a later result if a node has the job, which is cancelled', async () => {
    const { open, dispatcher, clock, service } = createSessionRig();
    const client = open();
    client.speak('slow');
    client.speak('quick');
    const slow = dispatcher.job('slow');
    await slow.dispatch();
    slow.move('RUNNING');
    await dispatcher.job('quick').succeed();
    await clock.advance(29_999);
    expect(client.link.outcomes()).toEqual([]);
    await clock.advance(1);
    expect(client.link.outcomes()).toEqual(['0!gap_timeout', '1:quick']);
    expect(dispatcher.cancelled).toMatchObject([{ jobId: slow.jobId, code: 'RESULT_TIMEOUT' }]);
    expect(client.link.of('error')).toMatchObject([
      { code: 'RESULT_TIMEOUT', details: { utterance_index: 0 } },
    ]);
    slow.finish();
    service.partial(slow.jobId, 'late', true);
    expect(client.link.outcomes()).toHaveLength(2);
    expect(client.link.of('partial')).toEqual([]);
    expect(service.counts().watched).toBe(0);
  });

  it('a closed gap is no error for a legacy client', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open(legacyOpening());
    client.say('slow');
    await clock.advance(1_150);
    client.say('quick');
    await clock.advance(1_150);
    await dispatcher.job('quick').succeed();
    await clock.advance(10_000);
    expect(client.link.lines()).toEqual(['opened', 'outcome 0!gap_timeout', 'outcome 1:quick']);
    expect(client.link.ui(0).at(-1)).toBe('ERROR 0 RESULT_TIMEOUT');
  });

  it('a gap of an unrecorded job is closed, and the job cancelled later', async () => {
    const { open, dispatcher, clock, service } = createSessionRig();
    const client = open(opening());
    client.speak('stuck');
    client.speak('quick');
    const stuck = dispatcher.job('stuck');
    await dispatcher.job('quick').succeed();
    await clock.advance(10_000);
    await stuck.dispatch();
    expect(dispatcher.cancelled.map(({ jobId }) => jobId)).toEqual([stuck.jobId, stuck.jobId]);
    expect(client.link.lines().filter((line) => line.endsWith(' 0') || line.includes(' 0!'))).toEqual([
      'accepted 0',
      'outcome 0!gap_timeout',
    ]);
    expect(service.counts().watched).toBe(0);
  });

  it('too many results behind a gap close it at once', async () => {
    const { open, dispatcher } = createSessionRig({
      settings: {
        delivery: {
          gapTimeoutMs: 10_000,
          gapMaxMs: 30_000,
          maxPendingResults: 2,
          maxPendingBytes: 1_000_000,
          maxResultBytes: 1_000_000,
          maxKeptResults: 9,
        },
      },
    });
    const client = open();
    for (const text of ['slow', 'a', 'b', 'c']) client.speak(text);
    for (const text of ['a', 'b', 'c']) await dispatcher.job(text).succeed();
    expect(client.link.outcomes()).toEqual(['0!pending_overflow_evict', '1:a', '2:b', '3:c']);
    expect(dispatcher.cancelled).toMatchObject([
      { jobId: dispatcher.job('slow').jobId, code: 'RESULT_TIMEOUT' },
    ]);
  });
});
