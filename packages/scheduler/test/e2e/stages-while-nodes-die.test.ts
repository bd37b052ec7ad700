/** Three nodes with one stage each and one whole node serve text, speech and several languages, although nodes die at their work. */
import type { JobAssign } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { speakToSeveral } from './support/several-languages.ts';
import { joinStageNode, perform, type StageNode, type StageNodeKind, speech } from './support/stage-nodes.ts';
import { startApp } from './support/start-app.ts';

const KINDS: readonly StageNodeKind[] = ['recogniser', 'translator', 'speaker', 'whole'];

const chainOf = ({ pipeline: { use_asr, use_nmt, use_tts } }: JobAssign): string =>
  [use_asr && 'asr', use_nmt && 'nmt', use_tts && 'tts'].filter(Boolean).join('+');

/** The node that gets the first job of a chain dies with it, and starts again: one death per chain. */
async function startDyingFleet({ settings = {}, isDeadly = (_chain: string): boolean => true } = {}) {
  const app = await startApp(settings);
  const deaths: string[] = [];
  const done: string[] = [];
  async function join(kind: StageNodeKind): Promise<void> {
    const self: StageNode = await joinStageNode(app.nodeUrl, kind, {
      // No other job is lost with the node: one that has lost two nodes is not tried again.
      maxConcurrentJobs: 1,
      onJob(job, context) {
        const chain = chainOf(job);
        if (isDeadly(chain) && !deaths.includes(chain)) {
          deaths.push(chain);
          self.node.kill();
          void join(kind);
          return new Promise(() => {});
        }
        done.push(`${chain} ${job.src_lang}>${job.tgt_lang}`);
        return perform(job, context);
      },
    });
  }

  await Promise.all(KINDS.map(join));
  await app.readyNodes(KINDS.length);
  return { app, deaths, done };
}

describe('single-stage nodes and a whole node, which die at their work', () => {
  it('serve a typed text in three languages', async () => {
    const { app, deaths, done } = await startDyingFleet();
    const { status, body } = await app.post('/v1/translate', {
      src_lang: 'en',
      tgt_lang: 'es',
      tgt_langs: ['es', 'fr', 'pt'],
      text: 'hello',
      options: { require_tts: true },
    });
    expect(status).toBe(200);
    expect(body.targets).toMatchObject([
      { tgt_lang: 'es', text_translated: 'hello>es', voice: { tts_audio: speech('hello>es es') } },
      { tgt_lang: 'fr', text_translated: 'hello>fr', voice: { tts_audio: speech('hello>fr fr') } },
      { tgt_lang: 'pt', text_translated: 'hello>es>pt', voice: { tts_audio: speech('hello>es>pt pt') } },
    ]);
    expect([...deaths].sort()).toEqual(['nmt', 'tts']);
    expect(new Set(done).size).toBe(6);
  });

  it('serve a spoken sentence together after the whole node has died with it', async () => {
    const { app, deaths, done } = await startDyingFleet({
      // No other node has all stages: the wait for one is in vain.
      settings: { 'scheduler.pending_timeout_ms': 300 },
      isDeadly: (chain) => chain === 'asr+nmt+tts',
    });
    const { session, outcomes, say } = speakToSeveral(app.url, { tgtLangs: ['es'], voiceLangs: ['es'] });
    say('hello');
    await session.settled();
    expect([...outcomes].sort()).toEqual(['0 es hello|hello>es', '0 es voice hello>es es']);
    expect(deaths).toEqual(['asr+nmt+tts']);
    expect(new Set(done).size).toBe(done.length);
  });

  it('serve a spoken sentence in three languages, each once', async () => {
    const { app, deaths, done } = await startDyingFleet();
    const { session, outcomes, errors, say } = speakToSeveral(app.url);
    say('hello');
    await session.settled();
    expect([...outcomes].sort()).toEqual([
      '0 es hello|hello>es',
      '0 es voice hello>es es',
      '0 fr hello|hello>fr',
      '0 pt hello|hello>es>pt',
    ]);
    expect(errors).toEqual([]);
    expect(deaths).toEqual(['asr', 'nmt', 'tts']);
    expect(done.filter((job) => job.startsWith('asr'))).toHaveLength(1);
  });
});
