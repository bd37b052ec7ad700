/** Configured credentials, stored as digests, and the lookup of a presented token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { NodeId, TenantId } from '../../domain/ids.ts';
import type { Region } from '../../domain/region.ts';
import type { Role } from './gate.ts';

export interface TokenEntry {
  /** SHA-256 of the token, 64 hexadecimal digits; see `digestToken`. */
  readonly sha256: string;
  readonly role: Role;
  /** For the role client; absent: the default tenant. */
  readonly tenantId?: TenantId | undefined;
  /** The only node ids that this token may use. */
  readonly nodeIds?: readonly NodeId[] | undefined;
  /** The only pools that nodes of this token may join. */
  readonly poolIds?: readonly number[] | undefined;
  /** Where the nodes of this token are. */
  readonly region?: Region | undefined;
  /** Clients only. */
  readonly mayMint?: boolean | undefined;
  readonly name?: string | undefined;
  /** A name in a client certificate, in place of a token: then the digest only identifies the credential. */
  readonly certificate?: string | undefined;
}

export const digestToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export interface TokenTable<T> {
  /** Neither tokens nor certificates are configured. */
  readonly isEmpty: boolean;
  find(token: string): T | undefined;
}

export function createTokenTable<T>(
  entries: readonly TokenEntry[],
  read: (entry: TokenEntry) => T,
): TokenTable<T> {
  const tokens = entries.filter(({ certificate }) => certificate === undefined);
  const rows = tokens.map((entry) => {
    const digest = Buffer.from(entry.sha256, 'hex');
    if (digest.length !== DIGEST_BYTES) throw new Error('a token digest must be 64 hexadecimal digits');
    return { digest, value: read(entry) };
  });
  return {
    isEmpty: entries.length === 0,
    find(token) {
      const presented = createHash('sha256').update(token).digest();
      let found: T | undefined;
      // Every row is compared in full, so that the time taken does not depend on the token.
      for (const { digest, value } of rows) if (timingSafeEqual(digest, presented)) found = value;
      return found;
    },
  };
}

const DIGEST_BYTES = 32;

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * Another scheme is used whole as the token, which matches none: a peer that sends credentials never falls back to
 * anonymous.
 */
export const readBearerToken = (authorization: string): string =>
  BEARER.exec(authorization)?.[1] ?? authorization;
