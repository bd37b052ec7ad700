/** One tenant wants the glossaries, usage, sessions and rooms of another. */
import { type Attack, broke, held, PULL_NODE, type Target, UTTERANCE } from '../attack.ts';
import { MAIN_TOKENS, TOKENS } from '../deployments.ts';

const [GLOSSARY, SESSION] = ['confidential-terms', 'confidential-session'];
const TERMS = { terms: [{ src_lang: 'en', tgt_lang: 'cs', source: 'project', target: 'tajemství' }] };
const IN_CZECH = { ...UTTERANCE, tgt_lang: 'cs', session_id: SESSION };

type Tried = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object];

const AS_THE_OTHER: readonly Tried[] = [
  ['GET', '/v1/glossaries?tenant_id=acme'],
  ['GET', `/v1/glossaries/${GLOSSARY}`],
  ['GET', `/v1/glossaries/${GLOSSARY}?tenant_id=acme`],
  ['POST', `/v1/glossaries/${GLOSSARY}?tenant_id=acme`, TERMS],
  ['DELETE', `/v1/glossaries/${GLOSSARY}`],
  ['DELETE', `/v1/glossaries/${GLOSSARY}?tenant_id=acme`],
  ['POST', '/v1/dispatch/f2f', { ...IN_CZECH, session_id: 'other', glossary_id: GLOSSARY }],
  ['GET', '/api/v1/usage?tenant_id=acme'],
  ['DELETE', `/v1/sessions/${SESSION}`],
  ['POST', '/v1/rooms', { tenant_id: 'acme' }],
  ['GET', '/v1/rooms?tenant_id=acme'],
];

/** A user of the tenant has no right to what belongs to the whole tenant. */
const AS_A_USER: readonly Tried[] = [
  ['GET', '/v1/glossaries'],
  ['POST', `/v1/glossaries/${GLOSSARY}`, TERMS],
  ['DELETE', `/v1/glossaries/${GLOSSARY}`],
  ['GET', '/api/v1/usage'],
  ['POST', '/v1/rooms', {}],
  ['GET', '/v1/rooms'],
];

/** The first one that was not refused. */
async function tryAll(
  target: Target,
  port: number,
  token: string,
  tries: readonly Tried[],
): Promise<string | undefined> {
  for (const [method, path, body] of tries) {
    const { status } = await target.call(method, path, { token, port, body });
    if (![400, 403, 404].includes(status)) return `${method} ${path} was answered with ${status}`;
  }
  return undefined;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'belongings-of-another-tenant',
    point: 6,
    does: 'Reads, changes, uses and removes glossaries, usage, sessions and rooms of another tenant, and as a user those of its own',
    modes: ['single', 'redis'],
    async run(target) {
      const token = MAIN_TOKENS.minter;
      const languages = { semantic_langs: ['en', 'cs'], nmt_pairs: [['en', 'cs']], tts_langs: ['cs'] };
      const node = { ...PULL_NODE, ...languages, node_id: 'node-of-belongings' };
      await target.call('POST', '/v1/node/register', { token: TOKENS.node, body: node });
      const stored = await target.call('POST', `/v1/glossaries/${GLOSSARY}`, { token, body: TERMS });
      const said = await target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
        token,
        body: { ...IN_CZECH, glossary_id: GLOSSARY },
      });
      const user = await target.call<{ token: string }>('POST', '/v1/tokens', {
        token,
        body: { user_id: 'eve' },
      });
      const prepared = [stored.status, said.status, user.status];
      if (prepared.some((status) => status !== 200)) return broke(`the tenant itself got ${prepared}`);
      for (const port of target.ports) {
        const reached =
          (await tryAll(target, port, TOKENS.globex, AS_THE_OTHER)) ??
          (await tryAll(target, port, user.body.token, AS_A_USER));
        if (reached !== undefined) return broke(reached);
        const listed = await target.call('GET', '/v1/glossaries', { token: TOKENS.globex, port });
        if (JSON.stringify(listed.body).includes(GLOSSARY)) return broke('the glossary was listed');
        const own = await target.call('GET', `/v1/glossaries/${GLOSSARY}`, { token, port });
        if (!JSON.stringify(own.body).includes('tajemství')) return broke('the tenant lost its glossary');
        const job = await target.call('GET', `/v1/job/${said.body.job_id}`, { token, port });
        if (job.status !== 200 || JSON.stringify(job.body).includes('erased'))
          return broke('the tenant lost its job');
      }
      return held(`403, 404 or 400 for all ${AS_THE_OTHER.length + AS_A_USER.length} requests`);
    },
  },
];
