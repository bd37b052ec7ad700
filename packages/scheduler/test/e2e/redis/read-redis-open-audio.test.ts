/** An attacker reads everything that is written to Redis while jobs run, and tries to fetch their audio with it. */
import type { JobAssign } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstances } from '../multi-instance/start-instances.ts';
import { connectLegacyNode } from '../support/legacy-node.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import type { Settings } from '../support/start-app.ts';
import { newKey, writeKeyFile } from './key-files.ts';
import { watchCommands } from './wire-tap.ts';

const BYTES = Buffer.from(Array.from({ length: 5_003 }, (_, index) => (index * 7) % 256));
const POLLING = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  supports: ['audio_ref'],
  max_concurrent_jobs: 2,
  health: 'ready',
};

/** Every address of audio in it that a token in it opens. */
async function openWith(written: readonly string[]): Promise<string[]> {
  const text = written.join(' ').replaceAll('\\', '');
  const urls = new Set(text.match(/http:\/\/[\d.:]+\/v1\/audio\/[\w-]+/g));
  const tokens = new Set(text.match(/[\w.-]{40,}/g));
  expect(urls.size).toBeGreaterThan(1);
  const opened: string[] = [];
  for (const url of urls)
    for (const token of tokens) {
      const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      await response.arrayBuffer();
      if (response.ok) opened.push(url);
    }
  return opened;
}

/** Two jobs of b run on nodes of a: on a socket and by a poll. Their audio is still held when the attacker tries. */
async function attack(settings: Settings) {
  const { redis, instances } = await startInstances(2, {
    'scheduler.audio.inline_max_bytes': 0,
    ...settings,
  });
  const [a, b] = instances as [Instance, Instance];
  const written: string[] = [];
  await watchCommands(redis, (words) => written.push(...words));
  const heard: Buffer[] = [];
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const node = await joinSdkNode({
    url: a.nodeUrl,
    nodeId: 'node-a',
    maxConcurrentJobs: 1,
    async onJob(_job, context) {
      heard.push(await context.audio());
      await finished;
      return OUTPUT;
    },
  });
  await b.readyNodes(1);
  const first = await b.dispatch({ audio: BYTES.toString('base64') });
  await eventually(() => heard[0]);
  await a.post('/v1/node/register', POLLING);
  await b.readyNodes(2);
  const polling = a.get<{ jobs: JobAssign[] }>(`/v1/node/${POLLING.node_id}/jobs?wait_ms=5000`);
  await b.dispatch({ audio: BYTES.toString('base64') });
  const [polled] = (await polling).body.jobs;
  const { url = '', token = '' } = polled?.audio_ref ?? {};
  const fetched = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  heard.push(Buffer.from(await fetched.arrayBuffer()));
  const opened = await openWith(written);
  finish();
  await a.settled(first.job_id);
  await node.stop();
  expect(heard.map((audio) => audio.equals(BYTES))).toEqual([true, true]);
  return { a, b, opened };
}

it('without a cluster key, tokens in Redis open the audio of running jobs', async () => {
  const { opened } = await attack({});
  expect(opened).toHaveLength(2);
});

it('with a cluster key, nothing in Redis opens audio, and nodes still get it', async () => {
  const clusterKeyFile = writeKeyFile(newKey('k1'));
  const { a, b, opened } = await attack({ 'scheduler.cluster.cluster_key_file': clusterKeyFile });
  expect(opened).toEqual([]);
  // Instance a fetches with its signature for a node that cannot fetch.
  const legacy = connectLegacyNode({ url: a.nodeUrl, languages: ['de', 'fr'] });
  await legacy.registered();
  const fields = { src_lang: 'de', tgt_lang: 'fr', audio: BYTES.toString('base64') };
  await eventually(async () => (await b.tryDispatch(fields)).status === 200);
  expect(Buffer.from((await legacy.job()).audio, 'base64').equals(BYTES)).toBe(true);
});
