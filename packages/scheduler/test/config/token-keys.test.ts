/** Keys of minted tokens: a JSON Web Key Set, whose problems are named without the key. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readTokenKeys } from '../../src/config/token-keys.ts';
import { problemsOf } from './loaded.ts';

const SECRET = Buffer.from('s'.repeat(32)).toString('base64url');
const HS = { kid: 'hs', alg: 'HS256', kty: 'oct', k: SECRET };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ED = { kid: 'ed', alg: 'EdDSA', ...privateKey.export({ format: 'jwk' }) };
const PUBLIC = { kid: 'public', alg: 'EdDSA', ...publicKey.export({ format: 'jwk' }) };
const setOf = (...keys: object[]): string => JSON.stringify({ keys });

describe('keys of minted tokens', () => {
  it('keep their order, and public keys only verify', () => {
    const read = readTokenKeys(setOf(ED, HS, PUBLIC));
    expect(
      read.kind === 'keys' &&
        read.keys.map(({ id, algorithm, signs }) => [id, algorithm, signs !== undefined]),
    ).toEqual([
      ['ed', 'EdDSA', true],
      ['hs', 'HS256', true],
      ['public', 'EdDSA', false],
    ]);
  });

  it.each([
    ['no JSON', 'secret', 'must be JSON'],
    ['no keys', '{"keys": []}', '1 to 16 keys'],
    ['a key without a name', setOf({ ...HS, kid: '' }), 'keys[0] needs a "kid"'],
    ['a short secret', setOf({ ...HS, k: 'AAAA' }), 'keys[0] .k has 3 bytes'],
    ['an algorithm of another kind', setOf({ ...HS, alg: 'EdDSA' }), 'keys[0] must have alg'],
    ['the algorithm none', setOf({ ...HS, alg: 'none' }), 'keys[0] must have alg'],
    ['a broken key', setOf({ ...ED, x: 'AA' }), 'keys[0] is no valid Ed25519 key'],
    ['one name twice', setOf(HS, HS), 'keys[1].kid is used twice'],
    ['a public key first', setOf(PUBLIC, HS), 'must have its private part'],
  ])('are refused for %s', (_, text, problem) => {
    const problems = problemsOf(`[server]\ntoken_keys = '${text}'\n`).join('\n');
    expect(problems).toContain(`server.token_keys ${problem.startsWith('keys') ? problem : ''}`.trimEnd());
    expect(problems).toContain(problem);
    expect(problems).not.toContain(SECRET);
  });
});
