/** Contract of the gate: who may connect, in which role, and at which rate. create-gate.ts implements it. */
import type { KeyObject } from 'node:crypto';
import type { Role, TokenClaims } from '@lingua/protocol';
import type { NodeId, TenantId } from '../../domain/ids.ts';
import type { NodeBinding } from '../../domain/profile.ts';
import type { SigningKey } from './minted-tokens.ts';
import type { AddressOf } from './peer-address.ts';
import type { TokenScope } from './token-scope.ts';
import type { TokenEntry } from './tokens.ts';

export type { Role } from '@lingua/protocol';

/** What a reload replaces. */
export interface GateCredentials {
  readonly tokens: readonly TokenEntry[];
  /** The first signs, all verify. Absent: none are minted. */
  readonly keys?: readonly SigningKey[];
}

/** An admitted peer. */
export interface Principal {
  /** The first role passed to `admit` that the peer has. */
  readonly role: Role;
  /** Every role that the peer may act in, `role` included. */
  readonly roles: ReadonlySet<Role>;
  /** The token's tenant. Absent for anonymous peers, who name their own. */
  readonly tenantId?: TenantId;
  /** The only node ids that a pinned node token may use. */
  readonly nodeIds?: readonly NodeId[];
  /** What a minted token allows; absent: everything that its roles and its tenant allow. */
  readonly scope?: TokenScope;
  /** Of a minted token: epoch ms. */
  readonly expiresAt?: number;
  /** The name of the token that minted this one; absent also if the command minted it. */
  readonly mintedBy?: string;
  /** The key that verified a minted token. */
  readonly key?: KeyObject;
  /** May mint tokens for users of its tenant. */
  readonly mayMint?: boolean;
  /** What dedicated pools need of a node; absent: it may join every pool. */
  readonly binding?: NodeBinding;
  /**
   * Digest of the token, of the name of the certificate, or of the address of an anonymous peer; never the token itself. A node_id belongs to one
   * credential.
   */
  readonly credential: string;
  readonly isAnonymous: boolean;
  /** The name of the token in the configuration. */
  readonly tokenName?: string;
}

/** `token:` and 12 digits of its digest: enough to find the token in the configuration. */
const MAX_CREDENTIAL = 18;

/** For the audit log. */
export const describePrincipal = ({ isAnonymous, tokenName, credential }: Principal): string =>
  isAnonymous ? 'anonymous' : (tokenName ?? credential.slice(0, MAX_CREDENTIAL));

/** A viewer watches the fleet; it does not need what people said. */
export const maySeeSpeech = ({ role, roles }: Principal): boolean =>
  role !== 'viewer' || roles.has('operator');

export interface Peer {
  readonly address: string;
  /** From the Authorization header or, on sockets, ?token=. */
  readonly token?: string | undefined;
  /** Names in the client certificate; empty: it is not valid. Absent: there is none. */
  readonly certificateNames?: readonly string[] | undefined;
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  /** The Sec-Fetch-Site header. */
  readonly fetchSite?: string | undefined;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly principal: Principal }
  | {
      readonly kind: 'refused';
      readonly code: 'UNAUTHORIZED' | 'FORBIDDEN' | 'RATE_LIMITED';
      readonly message: string;
      /** The owner of a genuine token that may not be used here. Absent: the token is unknown, or there is none. */
      readonly principal?: Principal | undefined;
      readonly retryAfterMs?: number;
    };

export type TenantChoice =
  | { readonly kind: 'tenant'; readonly tenantId: TenantId }
  /** The peer named a tenant other than its token's. */
  | { readonly kind: 'forbidden'; readonly message: string };

/** `revoked`: also if the token has other rights now. */
export type LostRights = 'expired' | 'revoked';

export interface Gate {
  /** The address of the client, also behind a trusted proxy. */
  readonly addressOf: AddressOf;
  /** `roles`: the peer must have one of them. A promise only for a minted token that was not verified before. */
  admit(peer: Peer, roles: readonly Role[]): Admission | Promise<Admission>;
  /** Replaces the configured tokens and keys, and ends what is held with those that lost rights. Returns how many ended. */
  changeCredentials(credentials: GateCredentials): number;
  /** Undefined: there is no key to sign with. */
  mint(claims: TokenClaims): Promise<string> | undefined;
  /**
   * For what outlasts a request: calls `end` once if the token of the peer expires, is removed, or has other rights than
   * before; at once if that has happened already. The returned function stops it.
   */
  hold(principal: Principal, end: (why: LostRights) => void): () => void;
  tenantOf(principal: Principal, named: TenantId | undefined): TenantChoice;
  /** A node id of a pinned token belongs to the tokens that are pinned to it. */
  mayUseNode(principal: Principal, nodeId: NodeId): boolean;
  /** False: since its registration, its token was removed, or lost the id or the pools of the node. */
  mayKeepNode(node: {
    readonly nodeId: NodeId;
    readonly credential: string;
    readonly binding?: NodeBinding | undefined;
  }): boolean;
  /**
   * Takes one request from the budget of the tenant and from the global budget. Without a tenant (nodes have none),
   * from the global budget only.
   */
  spend(
    tenantId: TenantId | undefined,
  ): { kind: 'ok' } | { kind: 'limited'; limit: 'tenant' | 'global'; retryAfterMs: number };
  /** Takes from the tenant's budget only, for a request that paid the global budget before its tenant was known. */
  spendTenantBudget(tenantId: TenantId): ReturnType<Gate['spend']>;
  /** Tenants whose requests are counted now. */
  tenants(): number;
  /** Counts an open socket until `leave` is called. */
  enter(
    principal: Principal,
    address: string,
  ): { kind: 'entered'; leave: () => void } | { kind: 'full'; limit: string };
  /** A rate limit for the messages of one connection. */
  openMessageBudget(): { spend(): boolean };
}
