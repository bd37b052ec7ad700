/** A short-lived token is forged, or used for more than it was minted for. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { type Attack, broke, held, PULL_NODE, type Target, UTTERANCE } from '../attack.ts';
import { KEY, MAIN_TOKENS, TOKENS } from '../deployments.ts';
import { exchange } from '../raw-exchange.ts';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const claimsOf = (more: object): object => {
  const now = Math.floor(Date.now() / 1_000);
  const who = { sub: 'eve', role: 'client', tenant_id: 'acme', jti: 'eve-1' };
  return { ...who, iss: 'lingua-scheduler', aud: 'lingua-scheduler', iat: now, exp: now + 3_600, ...more };
};

function forge(header: object, more: object, signer: (text: string) => Buffer): string {
  const text = `${encode({ kid: KEY.id, typ: 'JWT', ...header })}.${encode(claimsOf(more))}`;
  return `${text}.${signer(text).toString('base64url')}`;
}

const byKey = (key: KeyObject) => (text: string) => sign(null, Buffer.from(text), key);
const bySecret = (secret: string | Buffer) => (text: string) =>
  createHmac('sha256', secret).update(text).digest();

/** What a thief of one genuine token, who knows the public key, can make. */
function forgeries(genuine: string): Readonly<Record<string, string>> {
  const [header = '', , signature = ''] = genuine.split('.');
  const own = generateKeyPairSync('ed25519');
  const jwk = own.publicKey.export({ format: 'jwk' });
  const pem = KEY.publicKey.export({ format: 'pem', type: 'spki' });
  const operator = { role: 'operator', tenant_id: undefined };
  return {
    'without a signature': forge({ alg: 'none' }, operator, () => Buffer.from('none')),
    'with other claims under a genuine signature': `${header}.${encode(claimsOf(operator))}.${signature}`,
    'signed with the public key as a secret': forge({ alg: 'HS256' }, {}, bySecret(pem)),
    'signed with the point of the public key': forge(
      { alg: 'HS256' },
      {},
      bySecret(Buffer.from(KEY.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')),
    ),
    'signed with another key': forge({ alg: 'EdDSA' }, {}, byKey(own.privateKey)),
    'that brings its key along': forge({ alg: 'EdDSA', jwk }, {}, byKey(own.privateKey)),
    'with an unknown key': forge({ alg: 'EdDSA', kid: '../keys' }, {}, byKey(own.privateKey)),
  };
}

async function mint(target: Target, body: object): Promise<string> {
  const minted = await target.call<{ token: string }>('POST', '/v1/tokens', {
    token: MAIN_TOKENS.minter,
    body,
  });
  if (minted.status !== 200) throw new Error(`no token was minted: ${JSON.stringify(minted)}`);
  return minted.body.token;
}

const upgradeWith = (token: string): string =>
  [
    `GET /ws/session?token=${token} HTTP/1.1`,
    'host: localhost',
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    '',
    '',
  ].join('\r\n');

const OTHER_SESSION = { ...UTTERANCE, session_id: 'room-2' };

export const ATTACKS: readonly Attack[] = [
  {
    name: 'forged-tokens',
    point: 10,
    does: 'Forges minted tokens: no signature, other claims, the public key as a secret, keys of its own',
    modes: ['single', 'redis'],
    async run(target) {
      const genuine = await mint(target, { user_id: 'ann' });
      const forged = forgeries(genuine);
      for (const port of target.ports)
        for (const [what, token] of Object.entries(forged)) {
          const { status } = await target.call('GET', '/v1/whoami', { token, port });
          const upgrade = await exchange(port, upgradeWith(token));
          if (status !== 401) return broke(`a token ${what} got ${status}`);
          if (upgrade.statuses[0] !== 401)
            return broke(`a token ${what} got ${upgrade.statuses} for a socket`);
        }
      const [open] = (await exchange(target.port, upgradeWith(genuine))).statuses;
      if (open !== 101) return broke(`the genuine token got ${open} for a socket`);
      const honest = await target.call('GET', '/v1/whoami', { token: genuine, port: target.otherPort });
      if (honest.status !== 200) return broke(`the genuine token got ${honest.status}`);
      return held(`401 for all ${Object.keys(forged).length}`);
    },
  },
  {
    name: 'beyond-the-scope',
    point: 10,
    does: 'Uses a token of one session and two languages for other sessions, languages, roles and tokens',
    modes: ['single', 'redis'],
    async run(target) {
      const body = { ...PULL_NODE, node_id: 'node-of-scope', semantic_langs: ['en', 'zh', 'de'] };
      await target.call('POST', '/v1/node/register', { token: TOKENS.node, body });
      const say = (token: string, more: object) =>
        target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
          token,
          body: { ...UTTERANCE, ...more },
        });
      const others = (await say(TOKENS.acme, OTHER_SESSION)).body.job_id;
      const scope = { user_id: 'ann', session_id: 'room-1', languages: ['en', 'zh'] };
      const token = await mint(target, scope);
      const tries: readonly (readonly ['GET' | 'POST' | 'DELETE', string, object?])[] = [
        ['POST', '/v1/dispatch/f2f', OTHER_SESSION],
        ['POST', '/v1/dispatch/f2f', { ...UTTERANCE, tgt_lang: 'de' }],
        ['POST', '/v1/dispatch/f2f', { ...UTTERANCE, tenant_id: 'globex' }],
        ['POST', '/v1/translate', { ...UTTERANCE, tgt_langs: ['zh', 'de'] }],
        ['POST', '/v1/translate', { ...UTTERANCE, src_lang: 'auto' }],
        ['POST', '/v1/explain', OTHER_SESSION],
        ['GET', `/v1/job/${others}`],
        ['GET', `/v1/job/${others}/events`],
        ['GET', `/v1/job/${others}/audio`],
        ['POST', `/v1/job/${others}/cancel`, {}],
        ['POST', `/v1/job/${others}/report`, { kind: 'wrong' }],
        ['DELETE', `/v1/job/${others}`],
        ['DELETE', '/v1/sessions/room-2'],
        ['POST', '/v1/tokens', { user_id: 'eve' }],
        ['GET', '/api/v1/usage'],
        ['GET', '/api/v1/nodes'],
        ['POST', '/v1/node/register', { ...PULL_NODE, node_id: 'node-of-ann' }],
      ];
      for (const port of target.ports)
        for (const [method, path, sent] of tries) {
          const { status } = await target.call(method, path, { token, body: sent, port });
          if (![400, 403, 404].includes(status))
            return broke(`${method} ${path} was answered with ${status}`);
        }
      const own = await say(token, {});
      const read = await target.call('GET', `/v1/job/${own.body.job_id}`, { token, port: target.otherPort });
      return read.status === 200
        ? held(`403 or 404 for all ${tries.length} requests`)
        : broke(`its own job was answered with ${read.status}`);
    },
  },
];
