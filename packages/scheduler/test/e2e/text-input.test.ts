/** Jobs whose input is text: only nodes that take text get them, without recognition and repair. */
import type { JobAssign } from '@lingua/protocol';
import { NODE_EXTENSIONS } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { connectLegacyNode } from './support/legacy-node.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const BODY = { src_lang: 'en', tgt_lang: 'zh', text: 'Where is the station?' };

/** A node that only translates. */
const TRANSLATOR = {
  capability_by_type: [{ type: 'nmt', ready: true }],
  language_capabilities: {
    asr_languages: [],
    semantic_languages: [],
    tts_languages: [],
    nmt_capabilities: [
      {
        model_id: 'm',
        languages: [],
        rule: 'specific_pairs' as const,
        supported_pairs: [{ src: 'en', tgt: 'zh' }],
      },
    ],
  },
};

async function joinTranslator(app: RunningApp) {
  const assigned: JobAssign[] = [];
  await joinSdkNode({
    url: app.nodeUrl,
    nodeId: 'node-text',
    capabilities: TRANSLATOR,
    supports: [...NODE_EXTENSIONS, 'text_input'],
    onJob(job) {
      assigned.push(job);
      return { text_translated: `<${job.input_text}>` };
    },
  });
  return assigned;
}

const translate = (app: RunningApp, body: object = BODY) => app.post('/v1/translate', body);

describe('text as input', () => {
  it('is translated by a node that can do nothing else', async () => {
    const app = await startApp();
    const assigned = await joinTranslator(app);
    await app.readyNodes(1);
    expect(await translate(app)).toMatchObject({
      status: 200,
      body: { text_translated: '<Where is the station?>', text_asr: '' },
    });
    expect(assigned).toMatchObject([
      {
        input_text: 'Where is the station?',
        audio: '',
        pipeline: { use_asr: false, use_semantic: false, use_nmt: true, use_tts: false },
      },
    ]);
  });

  it('never reaches legacy nodes, nor nodes that take no text', async () => {
    const app = await startApp();
    const legacy = await connectLegacyNode({ url: app.nodeUrl }).registered();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-audio', onJob: () => ({ text_asr: 'never' }) });
    await app.readyNodes(2);
    expect(await translate(app, { ...BODY, wait_ms: 0 })).toMatchObject({
      status: 503,
      body: {
        error: 'ALL_CANDIDATES_FULL_OR_FAILED',
        detail: expect.stringContaining('not able to take text as input'),
        hint: expect.stringContaining('text_input'),
      },
    });
    expect(legacy.jobs).toEqual([]);
  });

  it('is not given to a node that would have to recognise speech', async () => {
    const app = await startApp();
    const assigned = await joinTranslator(app);
    await app.readyNodes(1);
    const spoken = await translate(app, { src_lang: 'en', tgt_lang: 'zh', audio: 'AAAA', wait_ms: 0 });
    expect(spoken.body).toMatchObject({ error: 'NO_CAPABLE_NODE' });
    expect(assigned).toEqual([]);
  });

  it('a repeat of the request gets the first result', async () => {
    const app = await startApp();
    const assigned = await joinTranslator(app);
    await app.readyNodes(1);
    const [first, second] = [
      await translate(app, { ...BODY, request_id: 'r-1' }),
      await translate(app, { ...BODY, request_id: 'r-1' }),
    ];
    expect(second.body).toEqual(first.body);
    expect(assigned).toHaveLength(1);
    const other = await translate(app, { ...BODY, request_id: 'r-1', text: 'Other' });
    expect(other.body).toMatchObject({ error: 'IDEMPOTENCY_CONFLICT' });
  });
});
