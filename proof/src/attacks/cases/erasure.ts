/** Somebody looks everywhere for what was said, after it was erased. */
import { Redis } from 'ioredis';
import { eventually } from '../../eventually.ts';
import { type Attack, broke, held, PULL_NODE, type Target, UTTERANCE } from '../attack.ts';
import { TOKENS } from '../deployments.ts';

const [SPOKEN, TRANSLATED, NOTE] = [
  'spoken-in-confidence',
  'translated-in-confidence',
  'noted-in-confidence',
];
const SECRETS = [SPOKEN, TRANSLATED, NOTE];
const SESSION = 'room-of-erasure';
const PATIENCE_MS = 10_000;

/** A finished job with its texts, and a client's report about it. */
async function finishedJob(target: Target, requestId: string): Promise<string> {
  const nodeId = 'node-of-erasure';
  const languages = { semantic_langs: ['en', 'sv'], nmt_pairs: [['en', 'sv']], tts_langs: ['sv'] };
  const node = { ...PULL_NODE, ...languages, node_id: nodeId };
  await target.call('POST', '/v1/node/register', { token: TOKENS.node, body: node });
  const { body } = await target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
    token: TOKENS.acme,
    body: { ...UTTERANCE, session_id: SESSION, tgt_lang: 'sv', request_id: requestId },
  });
  const jobId = body.job_id;
  const done = {
    job_id: jobId,
    attempt_id: 1,
    node_id: nodeId,
    text_asr: SPOKEN,
    text_translated: TRANSLATED,
    extra: { word: SPOKEN },
  };
  await target.call('POST', '/v1/job/done', { token: TOKENS.node, body: done });
  const report = { kind: 'wrong_translation', note: NOTE };
  await target.call('POST', `/v1/job/${jobId}/report`, { token: TOKENS.acme, body: report });
  return jobId;
}

/** Every key and value of Redis, uncompressed. */
async function dumpOf(port: number): Promise<string> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  try {
    await redis.config('SET', 'rdbcompression', 'no');
    const keys = await redis.keys('*');
    const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    return [...keys, ...values.map((value) => value?.toString('latin1') ?? '')].join('\n');
  } finally {
    redis.disconnect();
  }
}

/** Where what was said can be read. */
async function findSecrets(target: Target, jobId: string): Promise<readonly string[]> {
  const places = new Map<string, string>([['the log or the audit log', target.log()]]);
  for (const port of target.ports)
    for (const path of [
      `/v1/job/${jobId}`,
      `/v1/job/${jobId}/audio`,
      `/api/v1/jobs/${jobId}`,
      '/api/v1/jobs',
      `/api/v1/sessions/${SESSION}`,
      `/api/v1/search?q=${jobId}`,
      '/api/v1/dead-letters',
      '/api/v1/live?once=true',
    ]) {
      const { body } = await target.call<unknown>('GET', path, { token: TOKENS.operator, port });
      places.set(`${path} at port ${port}`, JSON.stringify(body));
    }
  if (target.redisPort !== undefined) places.set('Redis', await dumpOf(target.redisPort));
  return [...places]
    .filter(([, text]) => SECRETS.some((secret) => text.includes(secret)))
    .map(([place]) => place);
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'erased-texts',
    point: 14,
    does: 'Searches replies, logs and Redis for what was said, after its job or its session was erased; erases for another tenant',
    modes: ['single', 'redis'],
    async run(target) {
      for (const kind of ['job', 'sessions'] as const) {
        const jobId = await finishedJob(target, `erased-${kind}`);
        const path = `/v1/${kind}/${kind === 'job' ? jobId : SESSION}`;
        const port = target.otherPort;
        if ((await findSecrets(target, jobId)).length === 0)
          return broke('nothing was said: nothing to erase');
        const foreign = await target.call('DELETE', path, { token: TOKENS.globex });
        if (foreign.status !== 404) return broke(`another tenant erased with ${foreign.status}`);
        const erased = await target.call('DELETE', path, { token: TOKENS.acme, port });
        if (erased.status !== 200 || erased.body.done !== true)
          return broke(`the erasure was answered with ${erased.status} ${JSON.stringify(erased.body)}`);
        await eventually(async () => (await findSecrets(target, jobId)).length === 0, {
          withinMs: PATIENCE_MS,
        }).catch(() => {});
        const left = await findSecrets(target, jobId);
        if (left.length > 0) return broke(`texts in ${left.join(', ')}`);
        const again = await finishedJob(target, `erased-${kind}`);
        if (again !== jobId) return broke('the erased request ran a second time');
      }
      return held('nothing, and a repeated request did not run again');
    },
  },
];
