/** Whole utterances over a session's socket: audio in every form, languages and pipeline of their own, repeats by name. */
import type { JobAssign, NodeOptions } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { chunk, openSession, pcm, sessionUrl, spoken, utterance } from './support/session-client.ts';
import { echo, holdEachJob } from './support/session-jobs.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';

async function startServed(onJob: NodeOptions['onJob'] = async () => OUTPUT, settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const jobs: JobAssign[] = [];
  await joinSdkNode({
    url: app.nodeUrl,
    nodeId: 'node-a',
    onJob(job, context) {
      jobs.push(job);
      return onJob(job, context);
    },
  });
  await app.readyNodes(1);
  const url = sessionUrl(app);
  return { app, url, jobs, session: await openSession({ url }) };
}

/** A wav file of these samples, with a chunk in it that no player needs. */
function wav(samples: Buffer, rate: number): Buffer {
  const format = Buffer.alloc(24);
  format.write('fmt ', 0);
  format.writeUInt32LE(16, 4);
  format.writeUInt16LE(1, 8);
  format.writeUInt16LE(1, 10);
  format.writeUInt32LE(rate, 12);
  format.writeUInt32LE(rate * 2, 16);
  format.writeUInt16LE(2, 20);
  format.writeUInt16LE(16, 22);
  const note = Buffer.concat([Buffer.from('LIST'), Buffer.from([4, 0, 0, 0]), Buffer.from('note')]);
  const data = Buffer.alloc(8);
  data.write('data', 0);
  data.writeUInt32LE(samples.length, 4);
  const body = Buffer.concat([Buffer.from('WAVE'), format, note, data, samples]);
  const head = Buffer.alloc(8);
  head.write('RIFF', 0);
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

describe('the audio of an utterance', () => {
  it('reaches the node as it is, if it is pcm16 or opus', async () => {
    const { session, jobs } = await startServed();
    for (const [index, audio_format] of (['pcm16', 'opus'] as const).entries()) {
      session.send(utterance(session, index, { audio_format, sample_rate: 24_000 }));
      await session.outcome(index + 1);
      expect(jobs[index]).toMatchObject({ audio: pcm(index + 1), audio_format, sample_rate: 24_000 });
    }
  });

  it('is unwrapped to bare samples, if it is wav', async () => {
    const { session, jobs } = await startServed();
    const samples = Buffer.from([1, 0, 2, 0, 3, 0]);
    const audio = wav(samples, 22_050).toString('base64');
    session.send(utterance(session, 0, { audio, audio_format: 'wav', sample_rate: 16_000 }));
    await session.outcome();
    const unwrapped = { audio_format: 'pcm16', sample_rate: 22_050 };
    expect(jobs[0]).toMatchObject({ audio: samples.toString('base64'), ...unwrapped });
  });

  it('is fetched by the node itself, if it is a reference', async () => {
    const { session, jobs } = await startServed();
    session.send(utterance(session, 0, { audio: '', audio_ref: { url: 'blob://elsewhere/1' } }));
    await session.outcome();
    expect(jobs[0]).toMatchObject({ audio: '', audio_ref: { url: 'blob://elsewhere/1' } });
  });

  it.each([
    ['no base64', { audio: 'no base64!' }],
    ['empty', { audio: '' }],
    ['wav that is none', { audio: pcm(), audio_format: 'wav' }],
    ['given twice', { audio: pcm(), audio_ref: { url: 'blob://elsewhere/1' } }],
    ['in a form nobody knows', { audio: pcm(), audio_format: 'mp3' }],
  ])('that is %s is INVALID_MESSAGE, and no utterance', async (_, fields) => {
    const { session, jobs } = await startServed();
    session.send(utterance(session, 0, fields));
    expect(await session.next('error')).toMatchObject({ code: 'INVALID_MESSAGE' });
    session.send(utterance(session, 0));
    expect(await session.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect(jobs).toHaveLength(1);
  });
});

describe('an utterance', () => {
  it('has languages, a pipeline and a trace of its own', async () => {
    const { session, jobs } = await startServed();
    const pipeline = { use_asr: true, use_nmt: true, use_tts: false };
    const own = { src_lang: 'zh-CN', tgt_lang: 'en-US', trace_id: 'trace-of-mine', dialect: 'sichuan' };
    session.send(utterance(session, 0, { ...own, pipeline, features: { emotion_detection: true } }));
    expect(await session.outcome()).toMatchObject({ trace_id: 'trace-of-mine' });
    expect(jobs[0]).toMatchObject({
      src_lang: 'zh',
      tgt_lang: 'en',
      dialect: 'sichuan',
      trace_id: 'trace-of-mine',
      pipeline: { ...pipeline, use_semantic: false, use_tone: false },
      features: { emotion_detection: true },
    });
  });

  it.each([
    [true, { is_manual_cut: true }],
    [false, { is_pause_triggered: true }],
  ])('with manual_cut %s says so to the node', async (manual_cut, flags) => {
    const { session, jobs } = await startServed();
    session.send(utterance(session, 0, { manual_cut }));
    await session.outcome();
    expect(jobs[0]).toMatchObject(flags);
  });

  it('that is repeated by request_id is one job and one outcome, and accepted again', async () => {
    const held = holdJobs();
    const { session } = await startServed(held.onJob);
    const once = utterance(session, 0, { request_id: 'req-once' });
    session.send(once);
    await held.job();
    session.send(once);
    const told = { utterance_index: 0, request_id: 'req-once' };
    expect(await session.next('utterance_accepted', 2)).toMatchObject(told);
    held.finish();
    await session.outcome();
    session.send(once);
    await session.next('utterance_accepted', 3);
    await session.handled();
    expect([held.begun.length, session.outcomes().length]).toEqual([1, 1]);
  });

  it('that is repeated by request_id in another session of the tenant shares the job, and both hear of it', async () => {
    const held = holdJobs();
    const { url, session } = await startServed(held.onJob);
    session.send(utterance(session, 0, { request_id: 'req-shared' }));
    await held.job();
    const other = await openSession({ url });
    other.send(utterance(other, 0, { request_id: 'req-shared' }));
    await other.next('utterance_accepted');
    held.finish();
    for (const each of [session, other]) {
      expect(await each.outcome()).toMatchObject({
        type: 'translation_result',
        session_id: each.sessionId(),
      });
    }
    expect(held.begun).toHaveLength(1);
    const late = await openSession({ url });
    late.send(utterance(late, 5, { request_id: 'req-shared', audio: pcm(1) }));
    expect(await late.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 5 });
    expect(held.begun).toHaveLength(1);
  });

  it('with a request_id that belongs to other audio fails with IDEMPOTENCY_CONFLICT', async () => {
    const { url, session } = await startServed();
    session.send(utterance(session, 0, { request_id: 'req-1' }));
    await session.outcome();
    const other = await openSession({ url });
    other.send(utterance(other, 0, { request_id: 'req-1', audio: pcm(99) }));
    expect(await other.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(other.of('error')).toMatchObject([{ code: 'IDEMPOTENCY_CONFLICT' }]);
  });

  it('comes after what was spoken in chunks before it', async () => {
    const { session } = await startServed(echo);
    session.send(chunk(session, 7));
    session.send(utterance(session, 40));
    await session.outcome(2);
    expect(session.outcomes()).toMatchObject([
      { utterance_index: 0, text_asr: 'heard 7' },
      { utterance_index: 40, text_asr: 'heard 41' },
    ]);
  });

  it('never gets a number that its session has used, whatever it asks for', async () => {
    const { session, jobs } = await startServed();
    for (const index of [7, 7, 0, 9]) session.send(utterance(session, index));
    await session.outcome(4);
    expect(jobs.map(({ utterance_index: index }) => index).sort()).toEqual([10, 7, 8, 9]);
  });

  it('with the largest number there is leaves numbers for those after it', async () => {
    const { session } = await startServed();
    session.send(utterance(session, Number.MAX_SAFE_INTEGER));
    session.send(utterance(session, 1));
    const indices = [await session.outcome(1), await session.outcome(2)].map((told) => told.utterance_index);
    expect(indices.map(Number.isSafeInteger)).toEqual([true, true]);
  });
});

describe('outcomes', () => {
  it('leave in the order of their utterances, whichever node is done first', async () => {
    const each = holdEachJob();
    const { session } = await startServed(each.onJob);
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    await each.job(3);
    for (const count of [3, 2]) each.finish(count, { text_asr: `${count}`, text_translated: `${count}` });
    await session.handled();
    expect(session.outcomes()).toEqual([]);
    each.finish(1);
    await session.outcome(3);
    expect(session.outcomes().map(({ delivery_seq: seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('are not held up for ever: a gap is closed, its job cancelled, and RESULT_TIMEOUT said', async () => {
    const each = holdEachJob();
    const { session } = await startServed(each.onJob, { 'scheduler.result_gap_timeout_ms': 50 });
    for (const seq of [1, 2]) session.send(spoken(session, seq));
    const [first] = [await each.job(1), await each.job(2)];
    each.finish(2);
    await session.outcome(2);
    expect(session.outcomes()).toMatchObject([
      { type: 'missing_result', reason: 'gap_timeout', delivery_seq: 1 },
      { type: 'translation_result', delivery_seq: 2 },
    ]);
    expect(session.of('error')).toMatchObject([{ code: 'RESULT_TIMEOUT', details: { utterance_index: 0 } }]);
    expect(each.cancelled).toEqual([first.job_id]);
  });

  it('are not piled up without limit: the one they wait for is given up', async () => {
    const each = holdEachJob();
    const { session } = await startServed(each.onJob, { 'session.max_pending_results': 1 });
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    await each.job(3);
    for (const count of [2, 3]) each.finish(count);
    await session.outcome(3);
    expect(session.outcomes()[0]).toMatchObject({ reason: 'pending_overflow_evict', utterance_index: 0 });
  });
});

describe('a session in two-way mode', () => {
  it('is never given to a node that can do one direction only, unlike one in one-way mode', async () => {
    const app = await startApp(QUICK);
    const capable = simulatedCapabilities(['en', 'zh'], false);
    const oneWay = {
      ...capable,
      language_capabilities: {
        ...capable.language_capabilities,
        nmt_capabilities: [
          {
            model_id: 'en-zh',
            languages: ['en', 'zh'],
            rule: 'specific_pairs' as const,
            supported_pairs: [{ src: 'en', tgt: 'zh' }],
          },
        ],
      },
    };
    const halves: JobAssign[] = [];
    await joinSdkNode({
      url: app.nodeUrl,
      nodeId: 'node-half',
      capabilities: oneWay,
      onJob: async (job) => {
        halves.push(job);
        return OUTPUT;
      },
    });
    await app.readyNodes(1);
    const url = sessionUrl(app);
    const both = { mode: 'two_way_auto', src_lang: 'auto', lang_a: 'en', lang_b: 'zh' };
    const twoWay = await openSession({ url }, both);
    twoWay.send(spoken(twoWay, 1));
    expect(await twoWay.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(twoWay.of('error')).toMatchObject([{ code: 'NO_AVAILABLE_NODE' }]);
    const straight = await openSession({ url }, { mode: 'one_way' });
    straight.send(spoken(straight, 1));
    expect((await straight.outcome()).type).toBe('translation_result');
    expect(halves).toHaveLength(1);

    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-whole', onJob: async () => OUTPUT });
    await app.readyNodes(2);
    twoWay.send(spoken(twoWay, 2));
    expect((await twoWay.outcome(2)).type).toBe('translation_result');
    expect(halves).toHaveLength(1);
  });
});
