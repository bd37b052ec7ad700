/** Reads the keys that sign minted tokens: a JSON Web Key Set. The first key signs, all verify. Pure. */
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';

export interface TokenKey {
  readonly id: string;
  /** Fixed by the key: a token cannot choose it. */
  readonly algorithm: 'EdDSA' | 'HS256';
  readonly verifies: KeyObject;
  /** Absent: a public key, which only verifies. */
  readonly signs?: KeyObject;
}

export type ReadTokenKeys =
  | { readonly kind: 'keys'; readonly keys: readonly TokenKey[] }
  /** Never contains a part of a key. */
  | { readonly kind: 'invalid'; readonly message: string };

const MAX_KEYS = 16;
const MIN_SECRET_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9._:-]{1,64}$/;

export function readTokenKeys(text: string): ReadTokenKeys {
  const rows = rowsIn(text);
  if (rows === undefined || rows.length === 0 || rows.length > MAX_KEYS)
    return invalid(
      `must be JSON like {"keys": [...]} with 1 to ${MAX_KEYS} keys; "lingua token key" prints one`,
    );
  const keys: TokenKey[] = [];
  for (const [index, row] of rows.entries()) {
    const key = readKey(row);
    if (typeof key === 'string') return invalid(`keys[${index}] ${key}`);
    if (keys.some(({ id }) => id === key.id)) return invalid(`keys[${index}].kid is used twice`);
    keys.push(key);
  }
  if (keys[0]?.signs === undefined) return invalid('keys[0] must have its private part ("d"): it signs');
  return { kind: 'keys', keys };
}

function rowsIn(text: string): readonly unknown[] | undefined {
  try {
    const { keys } = Object(JSON.parse(text)) as { keys?: unknown };
    return Array.isArray(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

function readKey(row: unknown): TokenKey | string {
  const { kid, alg, kty, crv, k, d } = Object(row) as Record<string, unknown>;
  if (typeof kid !== 'string' || !KEY_ID.test(kid))
    return 'needs a "kid" of 1 to 64 letters, digits, or . _ : -';
  if (alg === 'HS256' && kty === 'oct' && typeof k === 'string') {
    const secret = Buffer.from(k, 'base64url');
    if (secret.length < MIN_SECRET_BYTES)
      return `.k has ${secret.length} bytes, at least ${MIN_SECRET_BYTES} are needed`;
    const key = createSecretKey(secret);
    return { id: kid, algorithm: 'HS256', verifies: key, signs: key };
  }
  if (alg !== 'EdDSA' || kty !== 'OKP' || crv !== 'Ed25519')
    return 'must have alg "HS256" with kty "oct" and k, or alg "EdDSA" with kty "OKP", crv "Ed25519" and x';
  try {
    const key = row as JsonWebKey;
    return {
      id: kid,
      algorithm: 'EdDSA',
      verifies: createPublicKey({ key, format: 'jwk' }),
      ...(d !== undefined && { signs: createPrivateKey({ key, format: 'jwk' }) }),
    };
  } catch {
    return 'is no valid Ed25519 key';
  }
}

const invalid = (message: string): ReadTokenKeys => ({ kind: 'invalid', message });
