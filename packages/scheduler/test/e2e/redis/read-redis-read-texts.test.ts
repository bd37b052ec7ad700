/** An attacker reads everything that is written to Redis while people talk, and searches it for what they said and for terms of glossaries. */
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstance, startInstances } from '../multi-instance/start-instances.ts';
import { joinSdkNode } from '../support/sdk-node.ts';
import { chunk, openSession, sessionUrl } from '../support/session-client.ts';
import type { Settings } from '../support/start-app.ts';
import { newKey, writeKeyFile } from './key-files.ts';
import { watchCommands } from './wire-tap.ts';

const SPOKEN = ['spoken-by-a-person', 'translated-for-a-person', 'partial-of-a-person', 'voice-for-a-person'];
const OUTPUT = {
  text_asr: SPOKEN[0] as string,
  text_translated: SPOKEN[1] as string,
  tts_audio: Buffer.from(SPOKEN[3] as string).toString('base64'),
  tts_format: 'pcm16',
};
const AUDIO = Buffer.from('audio-of-a-person').toString('base64');
const TERMS = ['term-of-a-tenant', 'word-for-a-term'] as const;
const SECRETS = [...SPOKEN.slice(0, 3), OUTPUT.tts_audio, AUDIO, ...TERMS];
const POLLING = {
  node_id: 'node-http',
  semantic_langs: ['de', 'fr'],
  tts_langs: ['fr'],
  max_concurrent_jobs: 2,
  health: 'ready',
};

/** What of SECRETS was in Redis, in keys or messages, while a session and a polling node worked on two instances. */
async function attack(settings: Settings) {
  const { redis, prefix, instances } = await startInstances(2, settings);
  const [a, b] = instances as [Instance, Instance];
  const written: string[] = [];
  await watchCommands(redis, (words) => written.push(...words));
  await joinSdkNode({
    url: a.nodeUrl,
    nodeId: 'node-a',
    async onJob(_job, { partial }) {
      partial(SPOKEN[2] as string);
      return OUTPUT;
    },
  });
  await b.readyNodes(1);
  const client = await openSession({ url: sessionUrl(b) });
  // The second utterance has the first one as its context.
  for (const seq of [1, 2]) {
    client.send(chunk(client, seq, { is_final: true, payload: AUDIO }));
    expect(await client.next('translation_result', seq)).toMatchObject({ text_translated: SPOKEN[1] });
  }
  const [source, target] = TERMS;
  await b.post('/v1/glossaries/parts', { terms: [{ src_lang: 'en', tgt_lang: 'zh', source, target }] });
  expect((await a.get('/v1/glossaries/parts')).body).toMatchObject({ terms: [{ source, target }] });
  await a.post('/v1/node/register', POLLING);
  const job = await eventually(async () => {
    const { status, body } = await b.tryDispatch({ src_lang: 'de', tgt_lang: 'fr', audio: AUDIO });
    return status === 200 ? body : undefined;
  });
  interface Fetched {
    readonly jobs: readonly {
      readonly job_id: string;
      readonly attempt_id: number;
      readonly audio: string;
    }[];
  }
  const { jobs } = (await a.get<Fetched>(`/v1/node/${POLLING.node_id}/jobs?wait_ms=5000`)).body;
  expect(jobs[0]?.audio).toBe(AUDIO);
  await a.post('/v1/job/done', { ...jobs[0], node_id: POLLING.node_id, ...OUTPUT });
  expect(await a.settled(job.job_id)).toMatchObject({ result: OUTPUT });
  const all = written.join('\n');
  return { redis, prefix, found: SECRETS.filter((secret) => all.includes(secret)) };
}

it('without a payload key, everything that was said can be read in Redis, and every term', async () => {
  expect((await attack({})).found).toEqual(SECRETS);
});

it('with a payload key, nothing that was said, and no term, can be read in Redis', async () => {
  const [one, two] = [newKey('k1'), newKey('k2')];
  const setting = 'scheduler.cluster.payload_key_file';
  const { redis, prefix, found } = await attack({ [setting]: writeKeyFile(one) });
  expect(found).toEqual([]);
  // An instance with another key does not start, and neither does one without.
  const start = (settings: Settings) => startInstance(redis, prefix, settings);
  await expect(start({})).rejects.toThrow(`${setting} is not set`);
  await expect(start({ [setting]: writeKeyFile(two) })).rejects.toThrow('does not have their key k1');
  const sameId = two.replace('k2', 'k1');
  await expect(start({ [setting]: writeKeyFile(sameId) })).rejects.toThrow('another key under the id k1');
  // The key is replaced: first by instances that have both, then only the new one is needed.
  await start({ [setting]: writeKeyFile(two, one) });
  await start({ [setting]: writeKeyFile(two) });
  await expect(start({ [setting]: writeKeyFile(one) })).rejects.toThrow('does not have their key k2');
});
