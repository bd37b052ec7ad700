/** A token is used for what another role may do, or for another tenant, or for another node. */
import { type Attack, broke, held, PULL_NODE, type Target, UTTERANCE } from '../attack.ts';
import { TOKENS } from '../deployments.ts';

type Row = readonly [
  token: string | undefined,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
];

const OPERATOR_PATHS: readonly (readonly ['GET' | 'POST' | 'DELETE', string])[] = [
  ['GET', '/api/v1/nodes'],
  ['GET', '/api/v1/jobs'],
  ['GET', '/api/v1/sessions'],
  ['GET', '/api/v1/cluster'],
  ['GET', '/metrics'],
  ['POST', '/api/v1/nodes/node-a/drain'],
  ['POST', '/api/v1/phase3/reload'],
  ['DELETE', '/api/v1/dead-letters?all=true'],
];

const FOREIGN: readonly Row[] = [
  ...[TOKENS.acme, TOKENS.node, 'wrong-token-0123456789', undefined].flatMap((token) =>
    OPERATOR_PATHS.map(([method, path]): Row => [token, method, path, method === 'POST' ? {} : undefined]),
  ),
  [TOKENS.acme, 'POST', '/v1/node/register', { ...PULL_NODE, node_id: 'node-of-client' }],
  [TOKENS.node, 'POST', '/v1/dispatch/f2f', UTTERANCE],
  [TOKENS.pinned, 'POST', '/v1/node/register', { ...PULL_NODE, node_id: 'node-not-pinned' }],
];

const register = (target: Target, nodeId: string, token: string) =>
  target.call('POST', '/v1/node/register', { token, body: { ...PULL_NODE, node_id: nodeId } });

const dispatch = async (target: Target, more: object = {}): Promise<string> => {
  const body = { ...UTTERANCE, ...more };
  const answer = await target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
    token: TOKENS.acme,
    body,
  });
  return answer.body.job_id;
};

export const ATTACKS: readonly Attack[] = [
  {
    name: 'foreign-role',
    point: 9,
    does: 'Uses the tokens of clients and nodes, a wrong token and none at the endpoints of other roles',
    modes: ['single', 'redis'],
    async run(target) {
      for (const [token, method, path, body] of FOREIGN) {
        const { status } = await target.call(method, path, { token, body });
        if (status !== 401 && status !== 403) return broke(`${method} ${path} was answered with ${status}`);
      }
      const honest = await target.call('GET', '/api/v1/nodes', { token: TOKENS.operator });
      return honest.status === 200 ? held('401 or 403 everywhere') : broke('the operator was refused');
    },
  },
  {
    name: 'jobs-of-another-tenant',
    point: 6,
    does: "Reads, waits for, streams and cancels another tenant's job, and names that tenant in a dispatch",
    modes: ['single', 'redis'],
    async run(target) {
      await register(target, 'node-of-tenants', TOKENS.node);
      const jobId = await dispatch(target);
      const [token, port] = [TOKENS.globex, target.otherPort];
      for (const [method, path] of [
        ['GET', `/v1/job/${jobId}`],
        ['GET', `/v1/job/${jobId}?wait_ms=100`],
        ['GET', `/v1/job/${jobId}/events`],
        ['GET', `/v1/job/${jobId}/audio`],
        ['POST', `/v1/job/${jobId}/cancel`],
      ] as const) {
        const { status } = await target.call(method, path, {
          token,
          port,
          ...(method === 'POST' && { body: {} }),
        });
        if (status !== 404) return broke(`${method} ${path} was answered with ${status}`);
      }
      const named = await target.call('POST', '/v1/dispatch/f2f', {
        token,
        body: { ...UTTERANCE, tenant_id: 'acme' },
      });
      if (named.status !== 403)
        return broke(`a dispatch for another tenant was answered with ${named.status}`);
      const own = await target.call('GET', `/v1/job/${jobId}`, { token: TOKENS.acme, port });
      return own.status === 200
        ? held('404, as if the job did not exist')
        : broke('the tenant lost its own job');
    },
  },
  {
    name: 'reports-of-another-node',
    point: 17,
    does: "Acknowledges and finishes another node's job with an invented text",
    modes: ['single', 'redis'],
    async run(target) {
      const nodeId = 'node-pinned';
      const languages = { semantic_langs: ['en', 'fi'], nmt_pairs: [['en', 'fi']], tts_langs: ['fi'] };
      const body = { ...PULL_NODE, ...languages, node_id: nodeId };
      await target.call('POST', '/v1/node/register', { token: TOKENS.pinned, body });
      const jobId = await dispatch(target, { tgt_lang: 'fi' });
      const report = { job_id: jobId, attempt_id: 1, node_id: nodeId };
      const forged = { ...report, text_asr: 'forged', text_translated: 'forged' };
      for (const port of target.ports)
        for (const [path, sent] of [
          ['/v1/job/ack', report],
          ['/v1/job/done', forged],
          ['/v1/job/fail', { ...report, error: 'NODE_ERROR' }],
        ] as const) {
          const { status } = await target.call('POST', path, { token: TOKENS.node, body: sent, port });
          if (status < 400) return broke(`${path} was answered with ${status}`);
        }
      const job = await target.call('GET', `/v1/job/${jobId}`, { token: TOKENS.acme });
      if (JSON.stringify(job.body).includes('forged')) return broke('the job has the forged text');
      const own = await target.call('POST', '/v1/job/ack', { token: TOKENS.pinned, body: report });
      return own.status === 200 ? held('403 for every report') : broke(`the real node got ${own.status}`);
    },
  },
  {
    name: 'audio-without-its-token',
    point: 5,
    does: 'Fetches the audio of a job with no token, with tokens of every role and with the token of another job',
    modes: ['single', 'redis'],
    async run(target) {
      await register(target, 'node-of-audio', TOKENS.node);
      const jobId = await dispatch(target, { audio: 'A'.repeat(200_000) });
      const wrong = ['A'.repeat(43), '', ...Object.values(TOKENS), undefined];
      for (const token of wrong) {
        const { status } = await target.call('GET', `/v1/audio/${jobId}`, { token });
        if (status < 400) return broke(`the audio was sent, with the token ${token}`);
      }
      return held('401 or 403 for every token');
    },
  },
];
