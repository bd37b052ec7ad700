/** Erasure reaches every instance, Redis and the dead letters, wherever it is asked for. */
import type { EraseReply } from '@lingua/protocol';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { eventually } from '../../support/eventually.ts';
import type { RedisUnderTest } from '../../support/redis-servers.ts';
import { joinSdkNode } from '../support/sdk-node.ts';
import { openSession, sessionUrl, spoken } from '../support/session-client.ts';
import { type Instance, startInstances } from './start-instances.ts';

const OUTPUT = { text_asr: 'spoken-by-a-person', text_translated: 'translated-for-a-person' };

/** Everything that is in Redis now. */
async function dump(client: Redis): Promise<string> {
  const parts: string[] = [];
  for (const key of await client.keys('*')) {
    const type = await client.type(key);
    if (type === 'hash') parts.push(JSON.stringify(await client.hgetall(key)));
    else if (type === 'string') parts.push((await client.get(key)) ?? '');
    else if (type === 'stream') parts.push(JSON.stringify(await client.xrange(key, '-', '+')));
    else if (type === 'zset') parts.push((await client.zrange(key, 0, '-1')).join());
  }
  return parts.join('\n');
}

function connect({ servers }: RedisUnderTest): Redis {
  const client = new Redis({ port: servers[0]?.port ?? 0 });
  onTestFinished(() => client.disconnect());
  return client;
}

it('a session is erased on another instance, in Redis and in the dead letters', async () => {
  const { redis, prefix, instances } = await startInstances(3);
  const [a, b, c] = instances as [Instance, Instance, Instance];
  const client = connect(redis);
  await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
  await b.readyNodes(1);
  const session = await openSession({ url: sessionUrl(b) });
  for (const seq of [1, 2]) {
    session.send(spoken(session, seq));
    await session.outcome(seq);
  }
  const jobId = String(session.outcomes()[0]?.job_id);
  const letter = JSON.stringify({ topic: 'report', body: { jobId, result: OUTPUT } });
  const { job_id: otherJob } = await a.dispatch({ session_id: 'room-other' });
  const other = JSON.stringify({ topic: 'report', body: { jobId: otherJob } });
  // Its record is gone, so nothing tells whose it was.
  const forgotten = JSON.stringify({ topic: 'report', body: { jobId: 'job-forgotten', result: OUTPUT } });
  const deadLetters = createKeys(prefix).deadLetters(a.instanceId);
  for (const body of [letter, other, forgotten])
    await client.xadd(deadLetters, '*', 'body', body, 'message', '1-1', 'deliveries', '10');
  // Messages between the instances are removed when they are handled.
  await eventually(async () => (await client.xlen(createKeys(prefix).inbox(b.instanceId))) === 0);
  expect(await dump(client)).toContain(OUTPUT.text_asr);
  expect(
    (await b.post(`/v1/job/${jobId}/report`, { kind: 'bad_translation', note: 'said by a person' })).status,
  ).toBe(200);

  const erased = await c.remove<EraseReply>(`/v1/sessions/${session.sessionId()}`);
  expect(erased.body).toEqual({
    ok: true,
    jobs: 2,
    sessions: 1,
    dead_letters: 1,
    room_utterances: 0,
    done: true,
    unreachable: [],
  });
  await session.closed;
  expect((await b.get(`/api/v1/jobs/${jobId}`)).body).toMatchObject({ reports: [] });
  await a.remove(`/v1/job/${otherJob}`);
  expect((await a.job(jobId)).result).toMatchObject({ text_asr: '', extra: { erased: true } });
  await eventually(async () => !(await dump(client)).includes('person'));
  expect(await client.xlen(deadLetters)).toBe(0);
  // Its saved state is gone as well: nobody can resume it.
  await eventually(async () => (await client.keys(`*${session.sessionId()}*`)).length === 0);
});

it('a forgotten job is erased from what outlived its record, a second time it is unknown', async () => {
  const { redis, prefix, instances } = await startInstances(2);
  const [a, b] = instances as [Instance, Instance];
  const client = connect(redis);
  const letter = JSON.stringify({ topic: 'report', body: { jobId: 'job-forgotten', result: OUTPUT } });
  const deadLetters = createKeys(prefix).deadLetters(a.instanceId);
  await client.xadd(deadLetters, '*', 'body', letter, 'message', '1-1', 'deliveries', '10');
  expect(await b.remove<EraseReply>('/v1/job/job-forgotten')).toMatchObject({
    status: 200,
    body: { jobs: 0, dead_letters: 1, done: true },
  });
  expect(await client.xlen(deadLetters)).toBe(0);
  expect((await b.remove('/v1/job/job-forgotten')).status).toBe(404);
});
