/** Short-lived tokens that any instance verifies by itself: signed by a key of server.token_keys_file, as JSON Web Tokens. */

import type { KeyObject } from 'node:crypto';
import { createHash } from 'node:crypto';
import { LONGEST_TOKEN_SECONDS, TokenClaims, validator } from '@lingua/protocol';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { JWTExpired } from 'jose/errors';

export interface SigningKey {
  readonly id: string;
  readonly algorithm: 'EdDSA' | 'HS256';
  readonly verifies: KeyObject;
  readonly signs?: KeyObject;
}

export type Verified =
  | { readonly kind: 'valid'; readonly claims: TokenClaims; readonly key: SigningKey }
  /** `expired`: it is genuine, but its time is over. */
  | { readonly kind: 'refused' | 'expired'; readonly message: string };

const ISSUER = 'lingua-scheduler';
const AUDIENCE = 'lingua-scheduler';
const TYPE = 'JWT';
/** Clocks of instances may differ by this much. */
export const CLOCK_SKEW_SECONDS = 30;
export const EXPIRED = 'the token has expired';
const MAX_LENGTH = 4_096;
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether it could be a minted token; nothing is verified. */
export const looksMinted = (token: string): boolean => token.length <= MAX_LENGTH && SHAPE.test(token);

/** Signs with the first key. */
export function mintToken(keys: readonly SigningKey[], claims: TokenClaims): Promise<string> {
  const [key] = keys;
  if (key?.signs === undefined) throw new Error('there is no key that signs');
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: key.algorithm, kid: key.id, typ: TYPE })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .sign(key.signs);
}

const readClaims = validator(TokenClaims);

/** `now`: epoch ms. The key determines the algorithm; the header of the token only names the key. */
export async function verifyToken(
  keys: readonly SigningKey[],
  token: string,
  now: number,
): Promise<Verified> {
  if (!looksMinted(token)) return refused('unknown token');
  const key = keys.find(({ id }) => id === keyIdOf(token));
  if (key === undefined) return refused('unknown token: its key is not among those of this server');
  try {
    const { payload } = await jwtVerify(token, key.verifies, {
      algorithms: [key.algorithm],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: TYPE,
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: new Date(now),
      maxTokenAge: LONGEST_TOKEN_SECONDS,
      requiredClaims: ['exp'],
    });
    const read = readClaims(payload);
    if (!read.ok) return refused('the token lacks a claim, or has one of another kind');
    const claims = read.value as TokenClaims;
    if (claims.exp - claims.iat > LONGEST_TOKEN_SECONDS) return refused('the token lasts longer than a day');
    return { kind: 'valid', claims, key };
  } catch (cause) {
    // The signature is verified before the times.
    if (cause instanceof JWTExpired) return { kind: 'expired', message: EXPIRED };
    return refused('unknown token: it is not valid');
  }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}

/** One for all tokens of a user, so that a fresh token continues the sessions of the one before. */
export const credentialOfUser = ({ role, tenant_id = '', sub }: TokenClaims): string =>
  `minted:${createHash('sha256').update(`${role}\n${tenant_id}\n${sub}`).digest('hex').slice(0, 32)}`;

const refused = (message: string): Verified => ({ kind: 'refused', message });
