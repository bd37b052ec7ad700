/** A client that speaks once and gets several languages, from nodes that perform single stages. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { speakToSeveral } from './support/several-languages.ts';
import { joinStageNode, PAIRS, perform, speech } from './support/stage-nodes.ts';
import { startApp } from './support/start-app.ts';

describe('one utterance, three languages, one voice', () => {
  it('is recognised once, translated once per language over a shared pivot, and spoken', async () => {
    const app = await startApp();
    const recogniser = await joinStageNode(app.nodeUrl, 'recogniser');
    const translator = await joinStageNode(app.nodeUrl, 'translator');
    const speaker = await joinStageNode(app.nodeUrl, 'speaker');
    await app.readyNodes(3);
    const { session, outcomes, say } = speakToSeveral(app.url);
    say('hello');
    await session.settled();
    expect([...outcomes].sort()).toEqual([
      '0 es hello|hello>es',
      '0 es voice hello>es es',
      '0 fr hello|hello>fr',
      '0 pt hello|hello>es>pt',
    ]);
    expect(recogniser.jobs).toHaveLength(1);
    expect(translator.jobs.map(({ src_lang, tgt_lang }) => `${src_lang}>${tgt_lang}`).sort()).toEqual(PAIRS);
    expect(speaker.jobs).toHaveLength(1);
    expect(speech('hello>es es')).toBe((await app.settled(speaker.jobs[0]?.job_id ?? '')).result?.tts_audio);
  });

  it('what fails in one language concerns only that language', async () => {
    const app = await startApp({ 'scheduler.max_retry': 0 });
    await joinStageNode(app.nodeUrl, 'recogniser');
    await joinStageNode(app.nodeUrl, 'translator', {
      onJob(job, context) {
        if (job.tgt_lang === 'es') throw new Error('no such word');
        return perform(job, context);
      },
    });
    await joinStageNode(app.nodeUrl, 'speaker');
    await app.readyNodes(3);
    const { session, outcomes, errors, say } = speakToSeveral(app.url);
    say('hello');
    await session.settled();
    expect([...outcomes].sort()).toEqual([
      '0 es text missing job_failed',
      '0 es voice missing job_failed',
      '0 fr hello|hello>fr',
      '0 pt text missing job_failed',
    ]);
    // One error for Spanish and its voice, one for Portuguese, which needs Spanish.
    expect(errors.map(({ details }) => (details as { tgt_lang: string }).tgt_lang).sort()).toEqual([
      'es',
      'pt',
    ]);
  });

  it('a language that no node can reach fails at once, with the reason', async () => {
    const app = await startApp();
    await joinStageNode(app.nodeUrl, 'whole', { pairs: ['en>es'] });
    await app.readyNodes(1);
    const { session, outcomes, errors, say } = speakToSeveral(app.url, { voiceLangs: [] });
    say('hello');
    await session.settled();
    expect([...outcomes].sort()).toEqual([
      '0 es hello|hello>es',
      '0 fr text missing job_failed',
      '0 pt text missing job_failed',
    ]);
    expect(errors.map(({ message }) => message).sort()).toEqual([
      'no node can translate en to fr, also not in two steps',
      'no node can translate en to pt, also not in two steps',
    ]);
  });

  it('the spoken language may be recognised by the node', async () => {
    const app = await startApp();
    await joinStageNode(app.nodeUrl, 'recogniser');
    await joinStageNode(app.nodeUrl, 'translator');
    await app.readyNodes(2);
    const { session, outcomes, say } = speakToSeveral(app.url, {
      srcLang: 'auto',
      tgtLangs: ['es', 'en'],
      voiceLangs: [],
    });
    say('hello');
    await session.settled();
    expect([...outcomes].sort()).toEqual(['0 en hello|hello', '0 es hello|hello>es']);
  });

  it('a node that dies in the middle is replaced, and nothing is done twice elsewhere', async () => {
    const app = await startApp();
    const recogniser = await joinStageNode(app.nodeUrl, 'recogniser');
    const dying = await joinStageNode(app.nodeUrl, 'translator', {
      nodeId: 'node-dying',
      onJob: () => new Promise(() => {}),
    });
    await app.readyNodes(2);
    const { session, outcomes, say } = speakToSeveral(app.url, { voiceLangs: [] });
    say('hello');
    await eventually(() => dying.jobs.length === 2);
    const translator = await joinStageNode(app.nodeUrl, 'translator');
    dying.node.kill();
    await session.settled();
    expect([...outcomes].sort()).toEqual([
      '0 es hello|hello>es',
      '0 fr hello|hello>fr',
      '0 pt hello|hello>es>pt',
    ]);
    expect(recogniser.jobs).toHaveLength(1);
    expect(translator.jobs).toHaveLength(3);
  });
});
