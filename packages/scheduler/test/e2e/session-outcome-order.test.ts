/** What comes back to a session: outcomes in the order of its utterances, and from nodes that can do what it needs. */
import type { JobAssign } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { openSession, sessionUrl, spoken } from './support/session-client.ts';
import { holdEachJob } from './support/session-jobs.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';

async function startHeld(settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const each = holdEachJob();
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: each.onJob });
  await app.readyNodes(1);
  return { each, session: await openSession({ url: sessionUrl(app) }) };
}

describe('outcomes', () => {
  it('outcomes are delivered in utterance order', async () => {
    const { each, session } = await startHeld();
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    await each.job(3);
    for (const count of [3, 2]) each.finish(count, { text_asr: `${count}`, text_translated: `${count}` });
    await session.handled();
    expect(session.outcomes()).toEqual([]);
    each.finish(1);
    await session.outcome(3);
    expect(session.outcomes().map(({ delivery_seq: seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('a gap is closed with RESULT_TIMEOUT and its job cancelled', async () => {
    const { each, session } = await startHeld({
      'scheduler.result_gap_timeout_ms': 50,
      'scheduler.result_gap_max_ms': 50,
    });
    for (const seq of [1, 2]) session.send(spoken(session, seq));
    const [first] = [await each.job(1), await each.job(2)];
    each.finish(2);
    await session.outcome(2);
    expect(session.outcomes()).toMatchObject([
      { type: 'missing_result', reason: 'gap_timeout', delivery_seq: 1 },
      { type: 'translation_result', delivery_seq: 2 },
    ]);
    expect(session.of('error')).toMatchObject([{ code: 'RESULT_TIMEOUT', details: { utterance_index: 0 } }]);
    expect(each.cancelled).toEqual([first.job_id]);
  });

  it('too many waiting outcomes close the gap', async () => {
    const { each, session } = await startHeld({ 'session.max_pending_results': 1 });
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    await each.job(3);
    for (const count of [2, 3]) each.finish(count);
    await session.outcome(3);
    expect(session.outcomes()[0]).toMatchObject({ reason: 'pending_overflow_evict', utterance_index: 0 });
  });
});

describe('a session in two-way mode', () => {
  it('a two-way session never uses a one-direction node', async () => {
    const app = await startApp(QUICK);
    const capable = simulatedCapabilities(['en', 'zh'], false);
    const oneWay = {
      ...capable,
      language_capabilities: {
        ...capable.language_capabilities,
        nmt_capabilities: [
          {
            model_id: 'en-zh',
            languages: ['en', 'zh'],
            rule: 'specific_pairs' as const,
            supported_pairs: [{ src: 'en', tgt: 'zh' }],
          },
        ],
      },
    };
    const halves: JobAssign[] = [];
    await joinSdkNode({
      url: app.nodeUrl,
      nodeId: 'node-half',
      capabilities: oneWay,
      onJob: async (job) => {
        halves.push(job);
        return OUTPUT;
      },
    });
    await app.readyNodes(1);
    const url = sessionUrl(app);
    const both = { mode: 'two_way_auto', src_lang: 'auto', lang_a: 'en', lang_b: 'zh' };
    const twoWay = await openSession({ url }, both);
    twoWay.send(spoken(twoWay, 1));
    expect(await twoWay.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(twoWay.of('error')).toMatchObject([{ code: 'NO_CAPABLE_NODE' }]);
    const misspelt = await openSession({ url }, { mode: 'one_way', tgt_lang: 'english' });
    misspelt.send(spoken(misspelt, 1));
    expect(await misspelt.next('error')).toMatchObject({
      code: 'NO_CAPABLE_NODE',
      details: { hint: expect.stringContaining('language codes look like en, zh-CN') },
    });
    const straight = await openSession({ url }, { mode: 'one_way' });
    straight.send(spoken(straight, 1));
    expect((await straight.outcome()).type).toBe('translation_result');
    expect(halves).toHaveLength(1);

    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-whole', onJob: async () => OUTPUT });
    await app.readyNodes(2);
    twoWay.send(spoken(twoWay, 2));
    expect((await twoWay.outcome(2)).type).toBe('translation_result');
    expect(halves).toHaveLength(1);
  });
});
