/** A node that supports stage_results tells the texts of a job before it makes the voice: captions do not wait for the sound. */
import type { JobContext } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startInstances } from './multi-instance/start-instances.ts';
import { speakToSeveral } from './support/several-languages.ts';
import { joinStageNode, perform, type StageNode } from './support/stage-nodes.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const SPANISH = { tgtLangs: ['es'], voiceLangs: ['es'] };
const TEXT = '0 es hello|hello>es';
const VOICE = '0 es voice hello>es es';

/** A whole node that has told the texts of its job, and makes the voice when the gate opens. */
async function joinTeller(
  url: string,
  nodeId: string,
  supports: readonly 'stage_results'[] = ['stage_results'],
) {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let context: JobContext | undefined;
  const self: StageNode = await joinStageNode(url, 'whole', {
    nodeId,
    supports,
    async onJob(job, given) {
      context = given;
      const { text_asr, text_translated } = await perform(job, given);
      given.texts({ text_asr, text_translated });
      await opened;
      return perform(job, given);
    },
  });
  return { ...self, open, tell: (text: string) => context?.texts({ text_asr: 'x', text_translated: text }) };
}

async function spoken(app: RunningApp) {
  const speaker = speakToSeveral(app.url, SPANISH);
  speaker.say('hello');
  return speaker;
}

describe('a text that its node tells before the voice', () => {
  it('reaches the client at once, and once; its voice follows', async () => {
    const app = await startApp();
    const node = await joinTeller(app.nodeUrl, 'node-1');
    await app.readyNodes(1);
    const { session, outcomes } = await spoken(app);
    await eventually(() => outcomes.length > 0);
    expect(outcomes).toEqual([TEXT]);
    node.tell('another text');
    node.open();
    await session.settled();
    expect(outcomes).toEqual([TEXT, VOICE]);
    expect(node.jobs).toHaveLength(1);
  });

  it('is answered by POST /v1/translate while the voice is being made', async () => {
    const app = await startApp();
    const node = await joinTeller(app.nodeUrl, 'node-1');
    await app.readyNodes(1);
    const request = {
      src_lang: 'en',
      tgt_langs: ['es'],
      audio: Buffer.from('hello').toString('base64'),
      options: { require_tts: true },
      request_id: 'r-1',
    };
    const text = { tgt_lang: 'es', state: 'done', text_asr: 'hello', text_translated: 'hello>es' };
    const { status, body } = await app.post('/v1/translate', { ...request, wait_ms: 1_500 });
    expect([status, body.targets]).toMatchObject([202, [{ ...text, voice: { state: 'open' } }]]);
    node.open();
    const done = await app.post('/v1/translate', request);
    expect([done.status, done.body.targets]).toMatchObject([200, [{ ...text, voice: { state: 'done' } }]]);
    expect(node.jobs).toHaveLength(1);
  });

  it('stays as it is if the node dies before the voice is made', async () => {
    const app = await startApp();
    const dying = await joinTeller(app.nodeUrl, 'node-1');
    await app.readyNodes(1);
    const { session, outcomes } = await spoken(app);
    await eventually(() => outcomes.length > 0);
    await joinStageNode(app.nodeUrl, 'whole', { nodeId: 'node-2' });
    await app.readyNodes(2);
    dying.node.kill();
    await session.settled();
    expect(outcomes).toEqual([TEXT, VOICE]);
  });

  it('comes with the voice from a node that does not support stage_results', async () => {
    const app = await startApp();
    const node = await joinTeller(app.nodeUrl, 'node-1', []);
    await app.readyNodes(1);
    const { session, outcomes } = await spoken(app);
    await eventually(() => node.jobs.length > 0);
    expect(outcomes).toEqual([]);
    node.open();
    await session.settled();
    expect(outcomes).toEqual([TEXT, VOICE]);
  });

  it('comes from a node of another instance, too', async () => {
    const { instances } = await startInstances(2);
    const [here, there] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const node = await joinTeller(there.nodeUrl, 'node-1');
    await here.readyNodes(1);
    const { session, outcomes } = await spoken(here);
    await eventually(() => outcomes.length > 0);
    expect(outcomes).toEqual([TEXT]);
    node.open();
    await session.settled();
    expect(outcomes).toEqual([TEXT, VOICE]);
  });
});
