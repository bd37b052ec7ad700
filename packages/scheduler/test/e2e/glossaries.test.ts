/** Glossaries: stored by a tenant, handed to nodes that use them, and named in results. */
import type { JobAssign } from '@lingua/protocol';
import { openSession } from '@lingua/sdk/client';
import { NODE_EXTENSIONS } from '@lingua/sdk/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const TERMS = [
  { src_lang: 'EN', tgt_lang: 'de', source: 'slot', target: 'Steckplatz' },
  { src_lang: 'en', tgt_lang: 'es', source: 'slot', target: 'ranura' },
];
const TYPED = { src_lang: 'en', tgt_lang: 'de', text: 'one Slot is free' };

/** A node that replaces the terms, and one job after the other as it got them. */
async function fleet({ toml = '', usesGlossaries = true } = {}) {
  const app = await startApp({}, toml);
  const jobs: JobAssign[] = [];
  await joinSdkNode({
    url: app.nodeUrl,
    nodeId: 'node',
    capabilities: simulatedCapabilities(['en', 'de', 'es'], false),
    supports: [...NODE_EXTENSIONS, 'text_input', ...(usesGlossaries ? (['glossary'] as const) : [])],
    onJob(job) {
      jobs.push(job);
      const used = job.glossary?.terms ?? [];
      return {
        text_asr: 'one slot is free',
        text_translated: used.map(({ target }) => target).join(' '),
        ...(job.glossary && { glossary_used: used.map(({ source }) => source) }),
      };
    },
  });
  await app.readyNodes(1);
  return { app, jobs };
}

const tenantWith = (glossaryId: string): string =>
  `[[scheduler.tenants]]\ntenant_id = "default"\nglossary_id = "${glossaryId}"\n`;

const store = (app: RunningApp, id: string, terms: readonly object[] = TERMS, token?: string) =>
  app.post(`/v1/glossaries/${id}`, { terms }, token);
const translate = (app: RunningApp, more: object = {}) => app.post('/v1/translate', { ...TYPED, ...more });

describe('a glossary', () => {
  it('is stored, listed, read, replaced and removed', async () => {
    const app = await startApp();
    expect(await store(app, 'parts')).toMatchObject({ status: 200, body: { ok: true, terms: 2 } });
    expect((await app.get('/v1/glossaries')).body).toEqual({ glossaries: ['parts'] });
    expect((await app.get('/v1/glossaries/parts')).body).toMatchObject({
      glossary_id: 'parts',
      terms: [{ src_lang: 'en', source: 'slot', target: 'Steckplatz' }, { tgt_lang: 'es' }],
    });
    await store(app, 'parts', TERMS.slice(0, 1));
    expect((await app.get('/v1/glossaries/parts')).body.terms).toHaveLength(1);
    expect((await app.remove('/v1/glossaries/parts')).status).toBe(200);
    expect(await app.get('/v1/glossaries/parts')).toMatchObject({ status: 404, body: { field: '/id' } });
    expect((await app.remove('/v1/glossaries/parts')).status).toBe(404);
  });

  it('names the field of what is wrong with it', async () => {
    const app = await startApp();
    const [first] = TERMS;
    const fieldOf = async (terms: readonly object[]) => {
      const { status, body } = await store(app, 'x', terms);
      return [status, body.field];
    };
    expect(await fieldOf([first, { ...first, source: 'SLOT' }] as object[])).toEqual([
      400,
      '/terms/1/source',
    ]);
    expect(await fieldOf([{ ...first, src_lang: 'auto' }])).toEqual([400, '/terms/0/src_lang']);
    expect(await fieldOf([{ ...first, tgt_lang: 'en' }])).toEqual([400, '/terms/0/tgt_lang']);
    expect(await fieldOf([{ ...first, source: ' ' }])).toEqual([400, '/terms/0/source']);
    const many = Array.from({ length: 201 }, (_, at) => ({ ...first, source: `slot ${at}` }));
    expect(await fieldOf(many)).toEqual([400, '/terms/200/source']);
  });

  it('belongs to its tenant', async () => {
    const [acme, other] = ['acme-0123456789abcdef', 'other-0123456789abcdef'];
    const row = (token: string, tenant: string) =>
      `[[server.tokens]]\ntoken = "${token}"\nrole = "client"\ntenant_id = "${tenant}"\n`;
    const app = await startApp({}, row(acme, 'acme') + row(other, 'other'));
    expect((await store(app, 'parts', TERMS, acme)).status).toBe(200);
    expect((await app.get('/v1/glossaries/parts', other)).status).toBe(404);
    expect((await app.get('/v1/glossaries?tenant_id=acme', other)).status).toBe(403);
    const refused = await app.post('/v1/translate', { ...TYPED, glossary_id: 'parts' }, other);
    expect(refused).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('other has no') },
    });
  });
});

describe('a job with a glossary', () => {
  it('gets the terms that occur in its text, and its result says which were used', async () => {
    const { app, jobs } = await fleet();
    await store(app, 'parts', [...TERMS, { ...TERMS[0], source: 'lease', target: 'Miete' }]);
    const { status, body } = await translate(app, { glossary_id: 'parts' });
    expect([status, body.text_translated, body.glossary_used]).toEqual([200, 'Steckplatz', ['slot']]);
    expect(jobs[0]?.glossary).toEqual({
      glossary_id: 'parts',
      terms: [{ source: 'slot', target: 'Steckplatz' }],
    });
  });

  it('in several languages gets the terms of each', async () => {
    const { app } = await fleet();
    await store(app, 'parts');
    const { body } = await translate(app, { tgt_langs: ['de', 'es'], glossary_id: 'parts' });
    expect(body.targets).toMatchObject([
      { tgt_lang: 'de', text_translated: 'Steckplatz', glossary_used: ['slot'] },
      { tgt_lang: 'es', text_translated: 'ranura', glossary_used: ['slot'] },
    ]);
  });

  it('is refused if the glossary is missing; a missing default of the tenant changes nothing', async () => {
    const { app, jobs } = await fleet({ toml: tenantWith('gone') });
    expect(await translate(app, { glossary_id: 'none' })).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('no glossary "none"') },
    });
    expect((await translate(app)).status).toBe(200);
    expect(jobs.map(({ glossary }) => glossary)).toEqual([undefined]);
  });

  it('has the glossary of its tenant if it names none', async () => {
    const { app, jobs } = await fleet({ toml: tenantWith('parts') });
    await store(app, 'parts');
    await translate(app);
    expect(jobs[0]?.glossary?.glossary_id).toBe('parts');
  });

  it('of a node without glossaries is translated without one', async () => {
    const { app, jobs } = await fleet({ usesGlossaries: false });
    await store(app, 'parts');
    const { body } = await translate(app, { glossary_id: 'parts' });
    expect(jobs[0]).not.toHaveProperty('glossary');
    expect(body).not.toHaveProperty('glossary_used');
  });

  it('of a session gets the terms of its languages', async () => {
    const { app } = await fleet();
    await store(app, 'parts');
    const session = openSession({
      url: app.url,
      srcLang: 'en',
      tgtLang: 'de',
      glossaryId: 'parts',
      WebSocket,
    });
    onTestFinished(async () => void (await session.close()));
    const results: unknown[] = [];
    session.on('result', ({ textTranslated, glossaryUsed }) => results.push([textTranslated, glossaryUsed]));
    session.sendAudio(Buffer.from('spoken'));
    session.endUtterance();
    await session.settled();
    expect(results).toEqual([['Steckplatz', ['slot']]]);
  });
});
