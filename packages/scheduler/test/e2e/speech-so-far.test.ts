/** A client sees text while it speaks, if a node recognises unfinished speech. */
import type { JobAssign } from '@lingua/protocol';
import { openSession } from '@lingua/sdk/client';
import { NODE_EXTENSIONS } from '@lingua/sdk/node';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { eventually } from '../support/eventually.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { startApp } from './support/start-app.ts';

it('text so far, then the outcome; what is said twice is charged once', async () => {
  const app = await startApp();
  const jobs: JobAssign[] = [];
  const join = (nodeId: string, supports: readonly 'interim'[]) =>
    joinSdkNode({
      url: app.nodeUrl,
      nodeId,
      capabilities: simulatedCapabilities(['en', 'de'], false),
      supports: [...NODE_EXTENSIONS, ...supports],
      async onJob(job, { audio }) {
        jobs.push(job);
        const text = (await audio()).toString();
        return job.pipeline.use_nmt ? { text_asr: text, text_translated: `<${text}>` } : { text_asr: text };
      },
    });
  const interim = await join('interim', ['interim']);
  await join('other', []);
  await app.readyNodes(2);
  const session = openSession({
    url: app.url,
    srcLang: 'en',
    tgtLang: 'de',
    enableStreamingAsr: true,
    partialUpdateIntervalMs: 500,
    WebSocket,
  });
  onTestFinished(async () => void (await session.close()));
  const events: string[] = [];
  const texts: string[] = [];
  session.on('partial', ({ text, revision }) => {
    if (revision !== undefined) texts.push(`${revision} ${text}`);
  });
  session.on('result', ({ utteranceIndex, textTranslated }) =>
    events.push(`${utteranceIndex} ${textTranslated}`),
  );
  let spoken = '';
  // The words come slowly enough for a text in between.
  await eventually(() => {
    if (texts.length < 2) {
      spoken += 'x';
      session.sendAudio(Buffer.from('x'));
    }
    return texts.length >= 2;
  });
  session.endUtterance();
  await session.settled();
  expect(events).toEqual([`0 <${spoken}>`]);
  const [first = '', second = ''] = texts.map((text) => text.slice(2));
  expect(texts.map((text) => text[0])).toEqual(['1', '2']);
  expect(spoken.startsWith(first) && second.length > first.length).toBe(true);
  const unfinished = jobs.filter(({ pipeline }) => !pipeline.use_nmt);
  expect(unfinished.length).toBeGreaterThanOrEqual(2);
  expect(interim.nodeId()).toBe('interim');
  const { body } = await app.get<{ rows: { results: number; stage: string }[] }>(
    '/api/v1/usage?group_by=stage',
  );
  expect(body.rows.filter(({ stage }) => stage === 'asr').map(({ results }) => results)).toEqual([1]);
});

it('text so far in the language of the listener; only the outcome is charged', async () => {
  const app = await startApp();
  await joinSdkNode({
    url: app.nodeUrl,
    capabilities: simulatedCapabilities(['en', 'de'], false),
    supports: [...NODE_EXTENSIONS, 'interim', 'text_input'],
    async onJob(job, { audio }) {
      const text = job.input_text ?? (await audio()).toString();
      return {
        ...(job.pipeline.use_asr && { text_asr: text }),
        ...(job.pipeline.use_nmt && { text_translated: `<${text}>` }),
      };
    },
  });
  await app.readyNodes(1);
  const session = openSession({
    url: app.url,
    srcLang: 'en',
    tgtLang: 'de',
    enableStreamingAsr: true,
    partialUpdateIntervalMs: 500,
    WebSocket,
  });
  onTestFinished(async () => void (await session.close()));
  const recognised = new Map<number | undefined, string>();
  const translated: [number | undefined, string][] = [];
  const outcomes: string[] = [];
  session.on('partial', ({ text, revision, language }) => {
    if (language === undefined) recognised.set(revision, text);
    else if (language === 'de') translated.push([revision, text]);
  });
  session.on('result', ({ textTranslated }) => outcomes.push(textTranslated));
  let spoken = '';
  await eventually(() => {
    if (translated.length === 0) {
      spoken += 'x';
      session.sendAudio(Buffer.from('x'));
    }
    return translated.length > 0;
  });
  session.endUtterance();
  await session.settled();
  const [[revision, text] = []] = translated;
  expect(text).toBe(`<${recognised.get(revision)}>`);
  expect(outcomes).toEqual([`<${spoken}>`]);
  const { body } = await app.get<{ rows: { results: number; stage: string }[] }>(
    '/api/v1/usage?group_by=stage',
  );
  expect(body.rows.filter(({ stage }) => stage === 'nmt').map(({ results }) => results)).toEqual([1]);
});
