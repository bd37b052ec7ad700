/** Jobs, acknowledgements and results never travel by pub/sub: every message on every channel is read while jobs run. */
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { RedisUnderTest } from '../../support/redis-servers.ts';
import { type Instance, startInstances } from '../multi-instance/start-instances.ts';
import { joinSdkNode } from '../support/sdk-node.ts';
import { watchCommands } from './wire-tap.ts';

/** Base64 that occurs in no other message. */
const AUDIO = Buffer.from('audio of the job').toString('base64');
const OUTPUT = { text_asr: 'text-of-the-asr', text_translated: 'text-of-the-translation' };
const JOBS = 20;
const POLLING = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};

/** What is in a job, a message between instances, an acknowledgement or a result, and in no hint. */
const DURABLE = [
  AUDIO,
  OUTPUT.text_asr,
  OUTPUT.text_translated,
  'topic',
  'attempt',
  'acknowledged',
  // The figures of an instance have a field of this name.
  ':"finished"',
];

/** Messages that subscribers receive: of every plain channel, and of every sharded one that has a subscriber. */
async function receiveAll({ servers }: RedisUnderTest): Promise<string[]> {
  const port = servers[0]?.port ?? 0;
  const [subscriber, client] = [new Redis({ port }), new Redis({ port })];
  onTestFinished(() => {
    for (const each of [subscriber, client]) each.disconnect();
  });
  const received: string[] = [];
  subscriber.on('pmessage', (_pattern, channel, message) => received.push(`${channel} ${message}`));
  subscriber.on('smessage', (channel, message) => received.push(`${channel} ${message}`));
  await subscriber.psubscribe('*');
  for (const channel of (await client.call('PUBSUB', 'SHARDCHANNELS')) as string[])
    await subscriber.ssubscribe(channel);
  return received;
}

/** Messages of every PUBLISH and SPUBLISH, also of those in scripts and without subscribers. */
async function publishedAll(redis: RedisUnderTest): Promise<string[]> {
  const published: string[] = [];
  await watchCommands(redis, ([command = '', channel, message]) => {
    if (/^s?publish$/i.test(command)) published.push(`${channel} ${message}`);
  });
  return published;
}

async function pollOneJob(at: Instance, ackAt: Instance): Promise<void> {
  interface Fetched {
    readonly jobs: readonly { readonly job_id: string; readonly attempt_id: number }[];
  }
  const { jobs } = (await at.get<Fetched>(`/v1/node/${POLLING.node_id}/jobs?wait_ms=5000`)).body;
  const report = { ...jobs[0], node_id: POLLING.node_id };
  expect((await ackAt.post('/v1/job/ack', report)).body).toMatchObject({ accepted: true });
  expect((await ackAt.post('/v1/job/done', { ...report, ...OUTPUT })).body).toMatchObject({ accepted: true });
}

it('no job, acknowledgement or result is published on any channel', async () => {
  const { redis, instances } = await startInstances(2);
  const [a, b] = instances as [Instance, Instance];
  const node = await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
  await b.readyNodes(1);
  const received = await receiveAll(redis);
  const published = await publishedAll(redis);

  // On a socket of the other instance.
  for (let job = 0; job < JOBS; job += 1) {
    const { job_id: jobId } = await b.dispatch({ audio: AUDIO });
    expect(await a.settled(jobId)).toMatchObject({ result: OUTPUT });
  }
  // On a node that polls and reports to an instance that does not drive its job.
  await node.stop();
  await a.post('/v1/node/register', POLLING);
  await eventually(async () =>
    (await b.nodes()).some(({ node_id, status }) => node_id === POLLING.node_id && status === 'ready'),
  );
  for (const [poll, ack] of [
    [a, a],
    [b, a],
  ] as const) {
    const polling = pollOneJob(poll, ack);
    const { job_id: jobId } = await b.dispatch({ audio: AUDIO });
    await polling;
    expect(await a.settled(jobId)).toMatchObject({ result: OUTPUT });
  }

  expect(received.length).toBeGreaterThan(0);
  expect(published.length).toBeGreaterThan(0);
  const durable = [...received, ...published].filter((message) =>
    DURABLE.some((content) => message.includes(content)),
  );
  expect(durable).toEqual([]);
});
