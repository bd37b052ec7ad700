/** What is said in sessions stays out of logs, metrics and lists: audio at every level, text above debug. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, failure, TRANSLATED } from './support/legacy-node.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { chunk, openSession, type SessionClient, sessionUrl, utterance } from './support/session-client.ts';
import { QUICK } from './support/session-settings.ts';
import { type RunningApp, startApp } from './support/start-app.ts';
import { openWebClient } from './support/web-client.ts';

/** A multiple of three bytes, so that its base64 repeats too; no byte is a message. */
const PATTERN = Buffer.from('deadbeefcafef00ddeadbeefcafef00d'.repeat(3), 'hex');
const AUDIO = Buffer.concat(Array<Buffer>(20).fill(PATTERN)).toString('base64');
const HEARD = 'a secret that was said';
const SPOKEN = '一个秘密';
const TRACES = [PATTERN.toString('base64', 0, 24), PATTERN.toString('hex', 0, 8), '222,173,190,239'];

/** Everything that can go right or wrong with audio, once. */
async function sayEverything(app: RunningApp, session: SessionClient): Promise<void> {
  session.send(chunk(session, 1, { payload: AUDIO }));
  session.send(chunk(session, 2, { payload: AUDIO, is_final: true }));
  session.send(utterance(session, 1, { audio: AUDIO, request_id: 'req-1' }));
  session.send(utterance(session, 1, { audio: AUDIO, request_id: 'req-1' }));
  session.send(chunk(session, 3, { payload: `${AUDIO}%` }));
  session.send(chunk(session, 4, { payload: AUDIO, session_id: 's-nobody' }));
  session.send(utterance(session, 2, { audio: AUDIO, audio_format: 'wav' }));
  session.send({ type: 'audio_hug', payload: AUDIO });
  session.sendText(`{"type":"audio_chunk","payload":"${AUDIO}"`);
  await session.outcome(2);
  session.send(chunk(session, 5, { payload: AUDIO }));
  await session.handled();
  session.cut();
  await eventually(() => app.app.sessions.counts().connected === 0);
}

async function seenOf(app: RunningApp): Promise<string> {
  const pages = ['/metrics', '/api/v1/sessions', '/api/v1/jobs'];
  const bodies = await Promise.all(pages.map((page) => app.get(page)));
  return [...app.log, ...bodies.map(({ body }) => JSON.stringify(body))].join('\n').toLowerCase();
}

const linesAboveDebug = (app: RunningApp): readonly string[] =>
  app.log.filter((line) => (JSON.parse(line) as { level: string }).level !== 'debug');

const tellTales = (seen: string, traces: readonly string[]): readonly string[] =>
  traces.filter((trace) => seen.includes(trace.toLowerCase()));

describe('the content of speech', () => {
  it.each([
    ['inline', 1_000_000],
    ['by reference', 0],
  ])('no log line contains speech when its audio goes %s', async (_, limit) => {
    const app = await startApp({ ...QUICK, 'log.level': 'debug', 'scheduler.audio.inline_max_bytes': limit });
    await joinSdkNode({
      url: app.nodeUrl,
      async onJob(_job, { audio, partial }) {
        await audio();
        partial(HEARD, true);
        return { text_asr: HEARD, text_translated: SPOKEN, tts_audio: AUDIO, tts_format: 'pcm16' };
      },
    });
    await app.readyNodes(1);
    const session = await openSession({ url: sessionUrl(app) });
    await sayEverything(app, session);
    const seen = await seenOf(app);
    expect(tellTales(seen, [...TRACES, String(session.frames[0]?.resume_token)])).toEqual([]);
    expect(linesAboveDebug(app).filter((line) => line.includes(HEARD) || line.includes(SPOKEN))).toEqual([]);
    expect(app.log.some((line) => line.includes('"debug"'))).toBe(true);
  });

  it('failed jobs of a legacy client log no content', async () => {
    const app = await startApp({ ...QUICK, 'log.level': 'debug', 'scheduler.pending_timeout_ms': 50 });
    connectLegacyNode({
      url: app.nodeUrl,
      answer: ({ utterance_index: index }) =>
        index === 0 ? failure('SEM_REPAIR_TIMEOUT') : { ...TRANSLATED, text_asr: HEARD },
    });
    await app.readyNodes(1);
    const web = await openWebClient({ url: sessionUrl(app) });
    for (const count of [1, 2]) {
      web.send({ ...chunk(web, count), payload: AUDIO });
      web.letGo();
      await web.outcome(count);
    }
    const seen = await seenOf(app);
    expect(tellTales(seen, TRACES)).toEqual([]);
    expect(linesAboveDebug(app).filter((line) => line.includes(HEARD))).toEqual([]);
  });
});
