/** Whole utterances over a session's socket: audio in every form, languages and pipeline of their own, repeats by name. */
import type { JobAssign, NodeOptions } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import {
  chunk,
  openSession,
  pcm,
  type SessionClient,
  sessionUrl,
  utterance,
} from './support/session-client.ts';
import { echo } from './support/session-jobs.ts';
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
  it('pcm16 and opus audio reaches the node unchanged', async () => {
    const { session, jobs } = await startServed();
    for (const [index, audio_format] of (['pcm16', 'opus'] as const).entries()) {
      session.send(utterance(session, index, { audio_format, sample_rate: 24_000 }));
      await session.outcome(index + 1);
      expect(jobs[index]).toMatchObject({ audio: pcm(index + 1), audio_format, sample_rate: 24_000 });
    }
  });

  it('wav audio is unwrapped to samples', async () => {
    const { session, jobs } = await startServed();
    const samples = Buffer.from([1, 0, 2, 0, 3, 0]);
    const audio = wav(samples, 22_050).toString('base64');
    session.send(utterance(session, 0, { audio, audio_format: 'wav', sample_rate: 16_000 }));
    await session.outcome();
    const unwrapped = { audio_format: 'pcm16', sample_rate: 22_050 };
    expect(jobs[0]).toMatchObject({ audio: samples.toString('base64'), ...unwrapped });
  });

  it('a node fetches audio by reference itself', async () => {
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
    ['in an unknown format', { audio: pcm(), audio_format: 'mp3' }],
  ])('audio that is %s gets INVALID_MESSAGE', async (_, fields) => {
    const { session, jobs } = await startServed();
    session.send(utterance(session, 0, fields));
    expect(await session.next('error')).toMatchObject({ code: 'INVALID_MESSAGE' });
    session.send(utterance(session, 0));
    expect(await session.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect(jobs).toHaveLength(1);
  });
});

describe('an utterance', () => {
  it('an utterance has its own languages, pipeline and trace', async () => {
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
  ])('manual_cut %s reaches the node', async (manual_cut, flags) => {
    const { session, jobs } = await startServed();
    session.send(utterance(session, 0, { manual_cut }));
    await session.outcome();
    expect(jobs[0]).toMatchObject(flags);
  });

  it('a repeated request_id gives one job and one outcome', async () => {
    const held = holdJobs();
    const { session } = await startServed(held.onJob);
    const once = utterance(session, 0, { request_id: 'req-once' });
    session.send(once);
    await held.job();
    session.send(once);
    const received = { utterance_index: 0, request_id: 'req-once' };
    expect(await session.next('utterance_accepted', 2)).toMatchObject(received);
    held.finish();
    await session.outcome();
    session.send(once);
    await session.next('utterance_accepted', 3);
    await session.handled();
    expect([held.begun.length, session.outcomes().length]).toEqual([1, 1]);
  });

  it('two sessions with one request_id share the job and its result', async () => {
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

  it('a request_id of other audio fails with IDEMPOTENCY_CONFLICT', async () => {
    const { url, session } = await startServed();
    session.send(utterance(session, 0, { request_id: 'req-1' }));
    await session.outcome();
    const other = await openSession({ url });
    other.send(utterance(other, 0, { request_id: 'req-1', audio: pcm(99) }));
    expect(await other.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(other.of('error')).toMatchObject([{ code: 'IDEMPOTENCY_CONFLICT' }]);
  });

  it.each([
    [
      'in chunks',
      (session: SessionClient, sound: number) =>
        chunk(session, 1, { payload: pcm(sound), is_final: true, request_id: 'req-1' }),
    ],
    ['at once', (session: SessionClient, sound: number) => utterance(session, 0, { audio: pcm(sound) })],
  ])('an utterance sent %s is not shared with another client’s equal request_id', async (_, say) => {
    const { url, session } = await startServed(echo);
    const other = await openSession({ url });
    session.send(say(session, 5));
    expect(await session.outcome()).toMatchObject({ text_asr: 'heard 5' });
    other.send(say(other, 6));
    expect(await other.outcome()).toMatchObject({ text_asr: 'heard 6' });
  });

  it('a whole utterance follows earlier chunks', async () => {
    const { session } = await startServed(echo);
    session.send(chunk(session, 7));
    session.send(utterance(session, 40));
    await session.outcome(2);
    expect(session.outcomes()).toMatchObject([
      { utterance_index: 0, text_asr: 'heard 7' },
      { utterance_index: 40, text_asr: 'heard 41' },
    ]);
  });

  it('an utterance never reuses an index of its session', async () => {
    const { session, jobs } = await startServed();
    for (const index of [7, 7, 0, 9]) session.send(utterance(session, index));
    await session.outcome(4);
    expect(jobs.map(({ utterance_index: index }) => index).sort()).toEqual([10, 7, 8, 9]);
  });

  it('the largest index leaves indexes for later utterances', async () => {
    const { session } = await startServed();
    session.send(utterance(session, Number.MAX_SAFE_INTEGER));
    session.send(utterance(session, 1));
    const indices = [await session.outcome(1), await session.outcome(2)].map(
      (received) => received.utterance_index,
    );
    expect(indices.map(Number.isSafeInteger)).toEqual([true, true]);
  });
});
