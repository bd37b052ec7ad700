/** Explain for several languages: the graph of jobs, where each would run, and why. */
import type { ExplainReply, OfferedLanguages } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run-command.ts';
import { createTerminal } from '../cli/terminal.ts';
import { joinStageNode, speech } from './support/stage-nodes.ts';
import { startApp } from './support/start-app.ts';

const SPOKEN = {
  session_id: 's-1',
  src_lang: 'en',
  tgt_lang: 'es',
  tgt_langs: ['es', 'pt', 'ja'],
  audio: speech('hello'),
  options: { require_tts: true },
};

async function startThree() {
  const app = await startApp();
  const nodes = [
    await joinStageNode(app.nodeUrl, 'recogniser'),
    await joinStageNode(app.nodeUrl, 'translator'),
    await joinStageNode(app.nodeUrl, 'speaker'),
  ];
  await app.readyNodes(3);
  return { app, nodes };
}

describe('explain for several languages', () => {
  it('offers the languages that can be served now, with or without a voice', async () => {
    const app = await startApp();
    await joinStageNode(app.nodeUrl, 'recogniser');
    await joinStageNode(app.nodeUrl, 'translator');
    await app.readyNodes(2);
    const offered = async () => (await app.get<OfferedLanguages>('/v1/languages?src=en-GB')).body;
    const all = (voice: boolean) => ['en', 'es', 'fr', 'pt'].map((lang) => ({ lang, voice }));
    expect(await offered()).toEqual({ src_lang: 'en', languages: all(false) });
    await joinStageNode(app.nodeUrl, 'speaker');
    await app.readyNodes(3);
    expect(await offered()).toEqual({ src_lang: 'en', languages: all(true) });
    expect((await app.get<OfferedLanguages>('/v1/languages?src=ja')).body.languages).toEqual([]);
    expect(await app.get('/v1/languages?src=auto')).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field: '/src' },
    });
  });

  it('takes the first language if tgt_lang is absent', async () => {
    const { app } = await startThree();
    const { tgt_lang: _, ...request } = SPOKEN;
    const [named, unnamed] = [SPOKEN, request].map((body) => app.post<ExplainReply>('/v1/explain', body));
    expect((await unnamed)?.status).toBe(200);
    expect((await unnamed)?.body.plan).toEqual((await named)?.body.plan);
    expect(await app.post('/v1/explain', { ...request, tgt_langs: undefined })).toMatchObject({
      status: 400,
      body: { field: '/tgt_lang' },
    });
  });

  it('shows the graph, a node for each job and why each language is served so', async () => {
    const { app, nodes } = await startThree();
    const { status, body } = await app.post<ExplainReply>('/v1/explain', SPOKEN);
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: 'refuse', refusal: { code: 'NO_CAPABLE_NODE' } });
    const found = body.plan?.chains.map((chain) => [
      chain.chain_id,
      chain.input,
      chain.after,
      chain.outcome,
      chain.candidate_node_id,
    ]);
    expect(found).toEqual([
      ['asr+semantic:en', 'audio', undefined, 'dispatch', 'node-recogniser'],
      ['nmt:en>es', 'text', 'asr+semantic:en', 'dispatch', 'node-translator'],
      ['tts:es', 'text', 'nmt:en>es', 'dispatch', 'node-speaker'],
      ['nmt:es>pt', 'text', 'nmt:en>es', 'dispatch', 'node-translator'],
      ['tts:pt', 'text', 'nmt:es>pt', 'dispatch', 'node-speaker'],
    ]);
    expect(body.plan?.targets).toEqual([
      {
        tgt_lang: 'es',
        path: ['en', 'es'],
        text_from: 'nmt:en>es',
        voice_from: 'tts:es',
        why: [
          'translated from en directly',
          'spoken by a job of its own, so that the text does not wait for the voice',
        ],
      },
      {
        tgt_lang: 'ja',
        path: [],
        missing: 'translation',
        why: ['no node can translate en to ja, also not through another language'],
      },
      {
        tgt_lang: 'pt',
        path: ['en', 'es', 'pt'],
        text_from: 'nmt:es>pt',
        voice_from: 'tts:pt',
        why: [
          'no node can translate en to pt, so it is translated through es, which is wanted too',
          'spoken by a job of its own, so that the text does not wait for the voice',
        ],
      },
    ]);
    expect(nodes.flatMap(({ jobs }) => jobs)).toEqual([]);
  });

  it('judges text as input, and refuses what POST /v1/translate refuses', async () => {
    const { app } = await startThree();
    const typed = { session_id: 's-1', src_lang: 'en', tgt_lang: 'es', tgt_langs: ['es'], text: 'hello' };
    const { body } = await app.post<ExplainReply>('/v1/explain', typed);
    expect(body).toMatchObject({ outcome: 'dispatch', candidate_node_id: 'node-translator' });
    expect(body.plan?.targets).toMatchObject([{ why: ['translated from en directly'] }]);
    const odd = await app.post('/v1/explain', { ...typed, tgt_lang: 'fr' });
    expect(odd).toMatchObject({ status: 400, body: { field: '/tgt_lang' } });
  });

  it('lingua explain prints the graph for --tgt with several languages', async () => {
    const { app } = await startThree();
    const io = createTerminal();
    const argv = ['--url', app.url, '--src', 'en', '--tgt', 'es,pt', '--text', 'hello'];
    expect(await runCommand(['explain', ...argv], io)).toBe(0);
    const page = io.lines.join('\n');
    expect(page).toContain('All languages together need 2 jobs:');
    expect(page).toMatch(/^nmt:es>pt +nmt:en>es +dispatch +1 +node-translator$/m);
    expect(page).toMatch(
      /^pt +nmt:es>pt +- +no node can translate en to pt, so it is translated through es/m,
    );
  });
});
