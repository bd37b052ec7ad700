/** Requests for several languages over HTTP: one node only recognises, one only translates, one only speaks. */
import type { JobAssign } from '@lingua/protocol';
import { type GpuNode, JobError, NODE_EXTENSIONS } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import type { Stage } from '../../src/domain/stage.ts';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode } from './support/legacy-node.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const LANGUAGES = ['en', 'es', 'fr', 'de'];
const RECOGNISER = ['asr', 'semantic'] as const;
const TYPED = { src_lang: 'en', tgt_lang: 'es', tgt_langs: ['es', 'fr', 'de'], text: 'good morning' };
const SPOKEN = { src_lang: 'en', tgt_lang: 'es', tgt_langs: ['es', 'fr'], audio: 'AQIDBA==' };

/** Each job as the node got it: its chain, its languages and its text. */
type Done = readonly [node: string, chain: string, languages: string, text: string];

async function startFleet() {
  const app = await startApp();
  const done: Done[] = [];

  const join = (
    nodeId: string,
    stages: readonly Stage[],
    before: (job: JobAssign) => unknown = () => {},
    languages = LANGUAGES,
  ): Promise<GpuNode> =>
    joinSdkNode({
      url: app.nodeUrl,
      nodeId,
      capabilities: simulatedCapabilities(languages, false, stages),
      supports: [...NODE_EXTENSIONS, 'text_input'],
      async onJob(job) {
        const chain = job.stages?.join('+') ?? '';
        done.push([nodeId, chain, `${job.src_lang}>${job.tgt_lang}`, job.input_text ?? '']);
        await before(job);
        const { use_asr, use_nmt, use_tts } = job.pipeline;
        const text = job.input_text ?? 'good morning';
        return {
          ...(use_asr && { text_asr: text }),
          ...(use_nmt && { text_translated: `${text} in ${job.tgt_lang}` }),
          ...(use_tts && { tts_audio: Buffer.from(text), tts_format: 'pcm16' }),
        };
      },
    });
  return { app, done, join };
}

const three = async ({ app, join }: Awaited<ReturnType<typeof startFleet>>) => {
  await join('hears', RECOGNISER);
  await join('translates', ['nmt']);
  await join('speaks', ['tts']);
  await app.readyNodes(3);
};

const translate = (app: RunningApp, body: object) => app.post('/v1/translate', body);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a request for several languages', () => {
  it('of a typed text gets one answer per language, from a node that only translates', async () => {
    const fleet = await startFleet();
    await three(fleet);
    const { status, body } = await translate(fleet.app, TYPED);
    expect(status).toBe(200);
    expect(body).toMatchObject({ tgt_lang: 'es', text_translated: 'good morning in es' });
    expect(body.targets).toEqual(
      ['de', 'es', 'fr'].map((language) => ({
        tgt_lang: language,
        state: 'done',
        job_id: expect.any(String),
        text_asr: 'good morning',
        text_translated: `good morning in ${language}`,
      })),
    );
    expect(new Set(fleet.done.map(([node, chain]) => `${node} ${chain}`))).toEqual(
      new Set(['translates nmt']),
    );
  });

  it('needs no tgt_lang: the first language stands where the reply names one', async () => {
    const fleet = await startFleet();
    await three(fleet);
    const request = { src_lang: 'en', tgt_langs: ['fr', 'es'], text: 'good morning', request_id: 'r-1' };
    const { status, body } = await translate(fleet.app, request);
    expect(status).toBe(200);
    expect(body).toMatchObject({ tgt_lang: 'fr', text_translated: 'good morning in fr' });
    expect(body.targets).toMatchObject([{ tgt_lang: 'es' }, { tgt_lang: 'fr' }]);
    const repeat = await translate(fleet.app, { ...request, tgt_lang: 'fr' });
    expect(repeat).toMatchObject({ status: 200, body: { job_id: body.job_id } });
    expect(fleet.done).toHaveLength(2);
    const { tgt_langs: _, ...none } = request;
    expect(await translate(fleet.app, none)).toMatchObject({ status: 400, body: { field: '/tgt_lang' } });
  });

  it('of speech is recognised once, translated per language, and spoken apart', async () => {
    const fleet = await startFleet();
    await three(fleet);
    const { status, body } = await translate(fleet.app, { ...SPOKEN, options: { require_tts: true } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      text_asr: 'good morning',
      text_translated: 'good morning in es',
      tts_audio: base64('good morning in es'),
    });
    expect(body.targets).toMatchObject([
      { tgt_lang: 'es', voice: { state: 'done', tts_audio: base64('good morning in es') } },
      { tgt_lang: 'fr', voice: { state: 'done', tts_audio: base64('good morning in fr') } },
    ]);
    expect(fleet.done[0]).toEqual(['hears', 'asr+semantic', 'en>en', '']);
    expect([...fleet.done].sort()).toEqual([
      ['hears', 'asr+semantic', 'en>en', ''],
      ['speaks', 'tts', 'es>es', 'good morning in es'],
      ['speaks', 'tts', 'fr>fr', 'good morning in fr'],
      ['translates', 'nmt', 'en>es', 'good morning'],
      ['translates', 'nmt', 'en>fr', 'good morning'],
    ]);
  });

  it('a language that no node has fails alone, with its reason', async () => {
    const fleet = await startFleet();
    await three(fleet);
    const { status, body } = await translate(fleet.app, { ...SPOKEN, tgt_langs: ['es', 'ja'] });
    expect(status).toBe(200);
    expect(body.targets).toMatchObject([
      { tgt_lang: 'es', state: 'done' },
      {
        tgt_lang: 'ja',
        state: 'failed',
        error: { code: 'NO_CAPABLE_NODE', message: expect.stringContaining('ja') },
      },
    ]);
  });

  it('a failed translation leaves the other languages as they are', async () => {
    const fleet = await startFleet();
    await fleet.join('hears', RECOGNISER);
    await fleet.join('translates', ['nmt'], ({ tgt_lang }) => {
      if (tgt_lang === 'fr') throw new JobError('INVALID_MESSAGE', 'cannot say that');
    });
    await fleet.app.readyNodes(2);
    const { body } = await translate(fleet.app, SPOKEN);
    expect(body.targets).toMatchObject([{ state: 'done' }, { tgt_lang: 'fr', state: 'failed' }]);
    expect(fleet.done.filter(([, chain]) => chain === 'asr+semantic')).toHaveLength(1);
  });

  it('a repeat goes on with what is done, and nothing is recognised twice', async () => {
    const fleet = await startFleet();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await fleet.join('hears', RECOGNISER);
    await fleet.join('translates', ['nmt'], ({ tgt_lang }) => (tgt_lang === 'fr' ? held : undefined));
    await fleet.app.readyNodes(2);
    const request = { ...SPOKEN, request_id: 'r-1' };
    const first = translate(fleet.app, { ...request, wait_ms: 60_000 });
    await eventually(() => fleet.done.find(([, , languages]) => languages === 'en>fr'));
    const pending = await translate(fleet.app, { ...request, wait_ms: 100 });
    expect(pending).toMatchObject({ status: 202, body: { request_id: 'r-1' } });
    expect(pending.body.targets).toMatchObject([{ tgt_lang: 'es' }, { tgt_lang: 'fr', state: 'open' }]);
    release();
    const { body } = await first;
    expect(body.targets).toMatchObject([{ state: 'done' }, { state: 'done' }]);
    expect((await translate(fleet.app, request)).body).toEqual(body);
    expect(fleet.done).toHaveLength(3);
    const other = await translate(fleet.app, { ...request, audio: 'BAMCAQ==' });
    expect(other.body).toMatchObject({ error: 'IDEMPOTENCY_CONFLICT' });
  });

  it('survives the death of the node that works on it', async () => {
    const fleet = await startFleet();
    const never = new Promise<void>(() => {});
    const dying = await fleet.join('dying', ['nmt'], () => never);
    await fleet.join('hears', RECOGNISER);
    await fleet.app.readyNodes(2);
    const answer = translate(fleet.app, { ...TYPED, wait_ms: 60_000 });
    await eventually(() => fleet.done.filter(([node]) => node === 'dying').length === 3);
    await fleet.join('whole', ['asr', 'semantic', 'nmt', 'tts']);
    dying.kill();
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(body.targets).toMatchObject([{ state: 'done' }, { state: 'done' }, { state: 'done' }]);
  });

  it('names the field of what does not go with several languages', async () => {
    const { app } = await startFleet();
    const pipeline = { use_asr: true, use_nmt: true, use_tts: false };
    const refused = async (part: object) => {
      const { status, body } = await translate(app, { ...SPOKEN, ...part });
      return [status, body.field];
    };
    expect(await refused({ tgt_lang: 'de' })).toEqual([400, '/tgt_lang']);
    expect(await refused({ tgt_langs: [] })).toEqual([400, '/tgt_langs']);
    expect(await refused({ tgt_langs: ['es', 'auto'] })).toEqual([400, '/tgt_langs']);
    expect(await refused({ pipeline })).toEqual([400, '/pipeline']);
    expect(await refused({ lang_a: 'en', lang_b: 'es' })).toEqual([400, '/mode']);
    expect(await refused({ options: { preferred_node_id: 'n' } })).toEqual([
      400,
      '/options/preferred_node_id',
    ]);
    const own = await translate(app, { ...TYPED, tgt_langs: ['en', 'es'] });
    expect([own.status, own.body.field]).toEqual([400, '/tgt_langs']);
  });
});

describe('a request for one language', () => {
  it('is split among nodes only because no node has the whole chain', async () => {
    const fleet = await startFleet();
    await three(fleet);
    const one = { src_lang: 'en', tgt_lang: 'es', audio: 'AQIDBA==', options: { require_tts: true } };
    const split = await translate(fleet.app, one);
    expect(split).toMatchObject({
      status: 200,
      body: { text_translated: 'good morning in es', tts_audio: base64('good morning in es') },
    });
    expect(split.body).not.toHaveProperty('targets');
    expect(fleet.done.map(([node]) => node)).toEqual(['hears', 'translates', 'speaks']);
    fleet.done.length = 0;
    await fleet.join('whole', ['asr', 'semantic', 'nmt', 'tts']);
    await fleet.app.readyNodes(4);
    expect((await translate(fleet.app, one)).status).toBe(200);
    expect(fleet.done).toEqual([['whole', '', 'en>es', '']]);
  });

  it('is refused as before, and nothing is begun, if all nodes together cannot do it', async () => {
    const fleet = await startFleet();
    await fleet.join('hears', RECOGNISER);
    await fleet.join('translates', ['nmt']);
    await fleet.app.readyNodes(2);
    const one = { src_lang: 'en', tgt_lang: 'es', audio: 'AQIDBA==', options: { require_tts: true } };
    expect(await translate(fleet.app, one)).toMatchObject({
      status: 503,
      body: { error: 'NO_CAPABLE_NODE', reasons: expect.any(Array) },
    });
    expect(fleet.done).toEqual([]);
  });
});

describe('a fleet of legacy nodes', () => {
  it('gets one whole job per language, each in a session of its own', async () => {
    const { app } = await startFleet();
    const legacy = await connectLegacyNode({ url: app.nodeUrl }).registered();
    await app.readyNodes(1);
    const body = { ...SPOKEN, tgt_lang: 'zh', tgt_langs: ['zh'], session_id: 's-1' };
    void translate(app, { ...body, wait_ms: 0 });
    const job = await eventually(() => legacy.jobs[0]);
    expect(job).toMatchObject({ session_id: 's-1:zh', tgt_lang: 'zh' });
    expect(job).not.toHaveProperty('stages');
  });
});
