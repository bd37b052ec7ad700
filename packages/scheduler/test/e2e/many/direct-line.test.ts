/** What nodes say over HTTP to an instance that does not drive their jobs: asked of the driver directly, and by message where it cannot be reached. */
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DIRECT_PATH } from '../../../src/ports/direct-line.ts';
import { freePort } from './free-port.ts';
import { type Instance, startInstance, startInstances } from './start-instances.ts';

const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};
const WORDS = { text_asr: 'hello', text_translated: '你好' };

interface Fetched {
  readonly jobs: readonly { readonly job_id: string; readonly attempt_id: number }[];
}

/** The node fetches its job, acknowledges and answers it, at the instance that it is told. */
async function work(at: Instance): Promise<unknown[]> {
  const { jobs } = (await at.get<Fetched>(`/v1/node/${NODE.node_id}/jobs?wait_ms=5000`)).body;
  const [job] = jobs;
  const report = { ...job, node_id: NODE.node_id };
  const acknowledged = await at.post('/v1/job/ack', report);
  const done = await at.post('/v1/job/done', { ...report, ...WORDS });
  return [acknowledged.body, done.body];
}

const metric = async (of: Instance, outcome: string): Promise<number> => {
  const text = (await of.get<string>('/metrics')).body;
  const line = text
    .split('\n')
    .find((each) => each.startsWith(`scheduler_direct_questions_total{outcome="${outcome}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
};

const ACCEPTED = { ok: true, accepted: true };

describe('a node that speaks to an instance which does not drive its job', () => {
  it('is answered by the driver, which is asked directly', async () => {
    const { instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    const working = work(a);
    const { job_id: jobId } = await b.dispatch();
    expect(await working).toEqual([ACCEPTED, ACCEPTED]);
    expect((await b.settled(jobId)).result).toMatchObject(WORDS);
    expect(await metric(a, 'answered')).toBe(2);
  });

  it('is answered though the driver cannot be reached over HTTP', async () => {
    const { redis, prefix, instances } = await startInstances(1);
    const [a] = instances as [Instance];
    // Where nobody is.
    const b = await startInstance(redis, prefix, {
      'server.advertise_url': `http://127.0.0.1:${await freePort()}`,
    });
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    for (const each of [1, 2]) {
      const working = work(a);
      const { job_id: jobId } = await b.dispatch();
      expect(await working, `${each}`).toEqual([ACCEPTED, ACCEPTED]);
      expect((await b.settled(jobId)).result).toMatchObject(WORDS);
    }
    // It is tried once, and then left alone for a while.
    expect([await metric(a, 'unreached'), await metric(a, 'not_tried')]).toEqual([1, 3]);
  });
});

describe('the key by which instances are asked directly', () => {
  it('is known to whoever reads the store, and to nobody else', async () => {
    const { redis, prefix, instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    const store = new Redis(redis.settings.url);
    onTestFinished(() => void store.disconnect());
    const presences = await store.keys(`${prefix}:*presence*`);
    const told = await Promise.all(presences.map((key) => store.hget(key, 'about')));
    const keys = told.map((text) => JSON.parse(text ?? '{}').directKey as string);
    expect([keys.length, new Set(keys).size]).toEqual([2, 2]);
    await a.post(DIRECT_PATH, {});
    const shown = await Promise.all(
      ['/api/v1/cluster', '/metrics', '/docs/json', '/readyz', '/healthz'].map(async (path) =>
        JSON.stringify((await a.get(path)).body),
      ),
    );
    const said = [...shown, ...a.log, ...b.log].join('\n');
    for (const key of keys) {
      expect(key).toMatch(/^[0-9a-f-]{36}$/);
      expect(said).not.toContain(key);
    }
  });
});
