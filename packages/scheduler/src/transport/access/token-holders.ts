/** The owners of tokens, in each of their roles. Pure; made at start, at a reload and once per minted token. */
import { createHash, type KeyObject } from 'node:crypto';
import { ROLE_NAMES, rolesIn, type TokenClaims } from '@lingua/protocol';
import { DEFAULT_TENANT } from '../../domain/ids.ts';
import { foldLanguage } from '../../domain/language.ts';
import type { NodeBinding } from '../../domain/profile.ts';
import type { Principal, Role } from './gate.ts';
import { credentialOfUser } from './minted-tokens.ts';
import { isLoopbackAddress, plainAddress } from './networks.ts';
import type { TokenEntry } from './tokens.ts';

export interface TokenHolder {
  /** Of a minted token: epoch ms. */
  readonly expiresAt?: number;
  readonly roles: ReadonlySet<Role>;
  readonly principals: Readonly<Record<Role, Principal>>;
}

/** Made once: admitting a request creates no object. */
const forEachRole = (make: (role: Role) => Principal): Readonly<Record<Role, Principal>> =>
  Object.fromEntries(ROLE_NAMES.map((role) => [role, make(role)])) as Record<Role, Principal>;

export function holderOf(entry: TokenEntry): TokenHolder {
  const tenantId = entry.tenantId ?? (entry.role === 'client' ? DEFAULT_TENANT : undefined);
  const roles = rolesIn(entry.role);
  const principals = forEachRole((role) => ({
    role,
    roles,
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(entry.nodeIds === undefined ? {} : { nodeIds: entry.nodeIds }),
    ...(roles.has('operator') ? {} : { binding: bindingOf(entry) }),
    credential: credentialOfToken(entry),
    isAnonymous: false,
    ...(entry.name === undefined ? {} : { tokenName: entry.name }),
    ...(entry.mayMint === true ? { mayMint: true } : {}),
  }));
  return { roles, principals };
}

export function holderOfClaims(claims: TokenClaims, key: KeyObject): TokenHolder {
  const { sub, by, tenant_id: tenantId, session_id: sessionId, languages, room, exp } = claims;
  // A node stays registered when no request of it is open, and so longer than a token that expires.
  const roles = new Set([...rolesIn(claims.role)].filter((role) => role !== 'node'));
  const expiresAt = exp * 1_000;
  const principals = forEachRole((role) => ({
    role,
    roles,
    ...(tenantId !== undefined && { tenantId }),
    credential: credentialOfUser(claims),
    isAnonymous: false,
    tokenName: by === undefined ? sub : `${by}/${sub}`,
    ...(by !== undefined && { mintedBy: by }),
    scope: {
      ...(sessionId !== undefined && { sessionId }),
      ...(languages !== undefined && { languages: new Set(languages.map(foldLanguage)) }),
      ...(room !== undefined && {
        room: {
          roomId: room.room_id,
          role: room.role,
          ...(room.language !== undefined && { language: foldLanguage(room.language) }),
        },
      }),
    },
    expiresAt,
    key,
  }));
  return { roles, principals, expiresAt };
}

export function anonymousPrincipals(
  roles: ReadonlySet<Role>,
  address: string,
  binding: NodeBinding | undefined,
): Readonly<Record<Role, Principal>> {
  const credential = credentialOfAddress(address);
  const bound = binding !== undefined && { binding };
  return forEachRole((role) => ({ role, roles, credential, isAnonymous: true, ...bound }));
}

/** Of a minted token that has ended: nothing is admitted with it. */
export const FORMER_USER: Principal = {
  role: 'client',
  roles: new Set(),
  credential: 'minted:expired',
  isAnonymous: false,
  tokenName: 'an expired token',
};

export const credentialOfToken = ({ sha256 }: TokenEntry): string =>
  `token:${sha256.toLowerCase().slice(0, 32)}`;

const bindingOf = ({ tenantId, poolIds, region }: TokenEntry): NodeBinding => ({
  ...(tenantId !== undefined && { tenantId }),
  ...(poolIds !== undefined && { poolIds }),
  ...(region !== undefined && { region }),
});

const PEER = 'peer:';

/** 127.0.0.1 and ::1 are one peer: a client may resolve "localhost" to either. */
function credentialOfAddress(address: string): string {
  const who = isLoopbackAddress(address) ? 'loopback' : plainAddress(address);
  return `${PEER}${createHash('sha256').update(who).digest('hex').slice(0, 32)}`;
}

export const isOfAnonymous = (credential: string): boolean => credential.startsWith(PEER);
