/** A node that registers on one instance gets jobs from another. How soon is measured by the bench (redis-cost). */
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstance, startInstances } from './start-instances.ts';

const NODES = 10;

it('a node registered on one instance gets jobs from another', async () => {
  const { instances } = await startInstances(2);
  const [a, b] = instances as [Instance, Instance];
  for (let count = 0; count < NODES; count += 1) {
    const language = `q${String.fromCharCode(97 + count)}`;
    const { status } = await a.post('/v1/node/register', {
      node_id: `node-${language}`,
      semantic_langs: [language, 'zh'],
      tts_langs: ['zh'],
      max_concurrent_jobs: 1,
      health: 'ready',
    });
    expect(status).toBe(200);
    const job = await eventually(async () => {
      const answer = await b.tryDispatch({ src_lang: language });
      if (answer.status === 200) return answer.body;
      expect(answer.body.error).toBe('NO_CAPABLE_NODE');
      return undefined;
    });
    expect(job.node_id).toBe(`node-${language}`);
  }
});

/** A node with made-up languages that need about half a megabyte. */
const madeUp = (nodeId: string) => {
  const languages = Array.from({ length: 1_000 }, (_, at) => `${nodeId}-${at}`);
  return { node_id: nodeId, semantic_langs: languages, tts_langs: languages, health: 'ready' };
};

it('an instance that joins refuses what exceeds its limits, says so, and works', async () => {
  const { instances, redis, prefix } = await startInstances(1);
  const [a] = instances as [Instance];
  for (const nodeId of ['evil-1', 'evil-2', 'evil-3']) {
    expect((await a.post('/v1/node/register', madeUp(nodeId))).status).toBe(200);
  }
  const b = await startInstance(redis, prefix, { 'scheduler.declarations.max_bytes': 1024 * 1024 });
  const warning = expect.stringMatching(/^\d nodes of other instances are not used here/);
  const { body } = await b.get<{ warnings: string[] }>('/api/v1/cluster');
  expect(body.warnings).toContainEqual(warning);
  expect(b.log.some((line) => line.includes('nodes of other instances are not used'))).toBe(true);
  expect((await b.get<string>('/metrics')).body).toMatch(
    /scheduler_declarations_refused_total\{limit="\w+"\} [1-9]/,
  );

  const honest = { node_id: 'honest', semantic_langs: ['de', 'en'], tts_langs: ['en'], health: 'ready' };
  expect((await b.post('/v1/node/register', honest)).status).toBe(200);
  expect((await b.dispatch({ src_lang: 'de', tgt_lang: 'en' })).node_id).toBe('honest');
});
