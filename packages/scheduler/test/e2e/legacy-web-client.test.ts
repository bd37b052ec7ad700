/** A conversation of the legacy web client: every line of the last section of docs/protocol.md about its messages. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { HEALTHY } from '../../src/cli/simulated-node/behaviour.ts';
import { createLegacyNode } from '../../src/cli/simulated-node/legacy-node.ts';
import { createSimulatedNode } from '../../src/cli/simulated-node/simulated-node.ts';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, failure, type LegacyNodeOptions, TRANSLATED } from './support/legacy-node.ts';
import { sessionUrl } from './support/session-client.ts';
import { figure } from './support/session-metrics.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, SHORT_TIMES, startApp } from './support/start-app.ts';
import { openWebClient, opus } from './support/web-client.ts';

/** An app with one legacy node, and the web client. */
async function startTalk(answer?: LegacyNodeOptions['answer'], settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const node = connectLegacyNode({ url: app.nodeUrl, ...(answer && { answer }) });
  await app.readyNodes(1);
  const url = sessionUrl(app);
  const web = await openWebClient({ url });
  return { app, node, url, web };
}

describe('legacy web client', () => {
  it('SDK nodes and legacy nodes serve it in two-way mode', async () => {
    const app = await startApp(QUICK);
    const options = { url: app.nodeUrl, languages: ['zh', 'en'], slots: 4, seed: 7 };
    const behaviour = { ...HEALTHY, latency: { kind: 'constant', ms: 5 }, ttsMs: 10 } as const;
    const made = createSimulatedNode({ ...options, behaviour });
    const legacy = createLegacyNode({ ...options, behaviour: { ...behaviour, isLegacy: true } });
    for (const node of [made, legacy]) {
      onTestFinished(() => node.stop());
      await node.start();
    }
    await app.readyNodes(2);
    const web = await openWebClient({ url: sessionUrl(app) });
    for (let count = 1; made.counts().done === 0 || legacy.counts().done === 0; count += 1) {
      web.speak(count);
      web.letGo();
      expect(await web.outcome(count)).toMatchObject({
        type: 'translation_result',
        utterance_index: count - 1,
        text_translated: expect.stringMatching(/./),
        tts_format: 'pcm16',
      });
      // The choice is random; that one of two nodes is never chosen in so many tries is not.
      expect(count).toBeLessThan(60);
    }
    expect(web.alerts()).toEqual([]);
  });

  it('opus packets reach the node unchanged, whatever was negotiated', async () => {
    const { node, web } = await startTalk();
    const sent = Buffer.concat([web.speak(1), web.speak(2), web.speak(3)]);
    web.letGo();
    const job = await node.job();
    expect(job).toMatchObject({ audio_format: 'opus', sample_rate: 16_000, src_lang: 'auto' });
    expect(job).toMatchObject({ mode: 'two_way_auto', lang_a: 'zh', lang_b: 'en' });
    expect(Buffer.from(job.audio, 'base64').equals(sent)).toBe(true);
  });

  it('every translation_result has a group_id, used to report playback', async () => {
    const { web } = await startTalk();
    for (const count of [1, 2]) {
      web.speak();
      web.letGo();
      const result = await web.outcome(count);
      expect(result.group_id).toMatch(/^[\w.:-]+$/);
      web.play(result);
      web.playEnd(result);
      await web.handled();
    }
    expect(web.uiEvents(0).slice(-2)).toEqual(['TTS_PLAY_STARTED', 'TTS_PLAY_ENDED']);
    expect(web.alerts()).toEqual([]);
  });

  it.each(['opus', 'pcm16', 'wav', ''])(
    'tts_audio and tts_format "%s" are passed on unchanged',
    async (tts_format) => {
      const spoken = { tts_audio: opus(9).toString('base64'), tts_format };
      const { web } = await startTalk(() => ({ ...TRANSLATED, ...spoken }));
      web.speak();
      web.letGo();
      expect(await web.outcome()).toMatchObject(spoken);
    },
  );

  it('no frame contains an extension', async () => {
    const { web } = await startTalk((job) => (job.utterance_index === 0 ? TRANSLATED : failure('no')), {
      'scheduler.pending_timeout_ms': 50,
    });
    for (const count of [1, 2]) {
      web.speak();
      web.letGo();
      await web.outcome(count);
    }
    const known = ['session_init_ack', 'ui_event', 'translation_result', 'missing_result'];
    expect([...new Set(web.frames.map(({ type }) => type))].sort()).toEqual(known.sort());
    const fields = web.frames.flatMap((frame) => Object.keys(frame));
    for (const field of ['delivery_seq', 'resume_token', 'resumed']) expect(fields).not.toContain(field);
  });

  it('without client_timestamp_ms there is no web_to_scheduler_ms', async () => {
    const { web } = await startTalk();
    web.speak();
    web.letGo();
    const { network_timings: network, service_timings: service } = await web.outcome();
    expect(network).not.toHaveProperty('web_to_scheduler_ms');
    expect(service).toEqual({ total_ms: 12 });
  });

  it('a pairing code gives a warning, and the session opens', async () => {
    const { url } = await startTalk();
    const web = await openWebClient({ url, init: { pairing_code: '123456' } });
    expect(web.frames[0]?.message).toContain('pairing codes are not issued');
    web.speak();
    web.letGo();
    expect((await web.outcome()).type).toBe('translation_result');
  });
});

describe('errors shown as alerts by the legacy web client', () => {
  it('a failed job gives missing_result and ui_event, no error', async () => {
    const { web } = await startTalk(() => failure('Opus decoding failed: corrupted stream'));
    web.speak();
    web.letGo();
    expect(await web.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(web.uiEvents(0).at(-1)).toBe('ERROR');
    expect(web.of('ui_event').at(-1)).toMatchObject({
      status: 'error',
      error_code: 'PROCESSING_ERROR',
      hint: expect.stringMatching(/./),
    });
    expect(web.alerts()).toEqual([]);
  });

  it('a missing node gives no error', async () => {
    const app = await startApp(QUICK);
    const web = await openWebClient({ url: sessionUrl(app) });
    web.speak();
    web.letGo();
    expect(await web.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(web.of('ui_event').at(-1)).toMatchObject({
      error_code: 'NO_CAPABLE_NODE',
      hint: expect.stringContaining('Start a node'),
    });
    expect(web.alerts()).toEqual([]);
  });

  it('a closed gap gives no error', async () => {
    const { web } = await startTalk((job) => (job.utterance_index === 0 ? undefined : TRANSLATED), {
      'scheduler.result_gap_timeout_ms': 50,
      'scheduler.result_gap_max_ms': 50,
    });
    for (const sound of [1, 2]) {
      web.speak(sound);
      web.letGo();
      await eventually(() => web.uiEvents(sound - 1).includes('INPUT_ENDED'));
    }
    expect(await web.outcome(1)).toMatchObject({ type: 'missing_result', reason: 'gap_timeout' });
    expect((await web.outcome(2)).type).toBe('translation_result');
    expect(web.of('ui_event').filter(({ status }) => status === 'error')).toMatchObject([
      { error_code: 'RESULT_TIMEOUT', utterance_index: 0 },
    ]);
    expect(web.alerts()).toEqual([]);
  });

  it('a connection gets at most one error per 10 s', async () => {
    const { app, url, web } = await startTalk();
    for (const text of ['nonsense', '{}', '[]', '{"type":"audio_chunk"}']) web.sendText(text);
    web.send({ type: 'room_leave', room_code: '1234', session_id: web.sessionId() });
    web.send({ type: 'audio_chunk', session_id: web.sessionId(), seq: 1, is_final: false, payload: '%' });
    await web.handled();
    expect(web.alerts()).toMatchObject([{ code: 'INVALID_MESSAGE' }]);
    const other = await openWebClient({ url });
    other.sendText('nonsense');
    await other.handled();
    expect(other.alerts()).toHaveLength(1);
    expect(await figure(app, 'scheduler_invalid_messages_total{edge="ws_session"}')).toBe(6);
  });

  it('a final without audio is ignored, without index or job', async () => {
    const { node, web } = await startTalk();
    for (let times = 0; times < 3; times += 1) web.letGo();
    web.send({ type: 'audio_chunk', session_id: web.sessionId(), seq: 77, is_final: true, payload: null });
    await web.handled();
    expect(web.of('ui_event')).toEqual([]);
    web.speak();
    web.letGo();
    web.letGo();
    expect(await web.outcome()).toMatchObject({ utterance_index: 0, type: 'translation_result' });
    expect(node.jobs).toHaveLength(1);
    expect(web.alerts()).toEqual([]);
  });

  it('late frames give no error', async () => {
    const { app, web } = await startTalk();
    const late = { session_id: 's-of-yesterday', trace_id: '', group_id: 'g-1' };
    web.speak(1, late.session_id);
    web.letGo(late.session_id);
    web.send({ type: 'tts_started', ...late, ts_start_ms: 1 });
    web.send({ type: 'tts_play_ended', ...late, ts_end_ms: 1 });
    web.send({ type: 'client_heartbeat', ...late, timestamp: 1 });
    web.send({ type: 'tts_play_ended', ...late, session_id: web.sessionId(), ts_end_ms: 1 });
    await web.handled();
    expect(web.alerts()).toEqual([]);
    const dropped = 'scheduler_session_messages_dropped_total{reason="unknown_session"}';
    expect(await figure(app, dropped)).toBe(5);
  });

  it('a silent node gives missing_result after the job timeout', async () => {
    const { node, web } = await startTalk(() => undefined, SHORT_TIMES);
    web.speak();
    web.letGo();
    await node.job();
    expect(await web.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(web.of('ui_event').at(-1)).toMatchObject({ event: 'ERROR', error_code: 'JOB_TIMEOUT' });
    expect(web.alerts()).toEqual([]);
  });
});
