/** A node that registers on one instance gets jobs from another. How soon is measured by the bench (redis-cost). */
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstances } from './start-instances.ts';

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
