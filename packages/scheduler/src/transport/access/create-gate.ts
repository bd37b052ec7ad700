/** The gate: admits peers by token or by network, resolves their tenant and nodes, and limits their rate. */

import { isDeepStrictEqual } from 'node:util';
import { ROLE_NAMES, rolesIn } from '@lingua/protocol';
import { createBoundedMap } from '../../domain/bounded-map.ts';
import { DEFAULT_TENANT, type NodeId, type TenantId } from '../../domain/ids.ts';
import type { NodeBinding } from '../../domain/profile.ts';
import type { Tenancy } from '../../domain/tenancy.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { type ConnectionLimits, createConnectionCounts } from './connection-counts.ts';
import type { Admission, Gate, GateCredentials, Peer, Principal, Role } from './gate.ts';
import { createHeldPeers } from './held-peers.ts';
import { CLOCK_SKEW_SECONDS, EXPIRED, looksMinted, mintToken, verifyToken } from './minted-tokens.ts';
import { createNetworks } from './networks.ts';
import { createAddressOf } from './peer-address.ts';
import {
  createRequestBudgets,
  type RequestLimits,
  type RequestRate,
  type Spending,
} from './request-budgets.ts';
import { isOwnHost, isOwnPage } from './request-origin.ts';
import { createTokenBucket } from './token-bucket.ts';
import {
  anonymousPrincipals,
  credentialOfToken,
  FORMER_USER,
  holderOf,
  holderOfClaims,
  isOfAnonymous,
  type TokenHolder,
} from './token-holders.ts';
import { createTokenTable, digestToken } from './tokens.ts';

export interface AccessSettings extends GateCredentials {
  /** Roles that peers of the trusted networks have without a token, named as in server.anonymous. */
  readonly anonymous: readonly ('session' | 'node' | 'metrics' | 'viewer' | 'operator')[];
  /** CIDR. */
  readonly trustedNetworks: readonly string[];
  /** CIDR. Absent: there are none. */
  readonly trustedProxies?: readonly string[];
  /** Names by which peers without a token may reach this server, besides addresses and localhost. Lower case. */
  readonly allowedHosts: readonly string[];
  /** Origins of other hosts whose pages may act without a token; `*`: any. */
  readonly allowedOrigins: readonly string[];
  readonly limits: ConnectionLimits &
    RequestLimits & { readonly messagesPerSecond: number; readonly messagesBurst: number };
}

const MAX_KNOWN_ADDRESSES = 10_000;
/** A minted token that is used again is not verified again. */
const MAX_VERIFIED = 10_000;
const SKEW_MS = CLOCK_SKEW_SECONDS * 1_000;

/** The part of a principal that decides about its nodes. */
interface NodeOwner extends Pick<Principal, 'roles' | 'nodeIds'> {
  readonly binding?: NodeBinding | undefined;
}

/** The rights of a peer without a token, derived from its address. */
interface AnonymousPeer {
  readonly isTrusted: boolean;
  readonly principals: Readonly<Record<Role, Principal>>;
}

export function createGate(deps: {
  clock: Clock;
  meter: Meter;
  settings: AccessSettings;
  tenancy?: (RequestRate & Pick<Tenancy, 'reached'>) | undefined;
}): Gate {
  const { clock, meter, settings } = deps;
  const { limits } = settings;
  const trusted = createNetworks(settings.trustedNetworks);
  const allowedHosts = new Set(settings.allowedHosts);
  const allowedOrigins = new Set(settings.allowedOrigins);
  const budgets = createRequestBudgets(limits, clock.now(), deps.tenancy);
  const connections = createConnectionCounts(limits);
  const anonymousPeers = createBoundedMap<string, AnonymousPeer>({ max: MAX_KNOWN_ADDRESSES });
  const held = createHeldPeers({ clock, isCurrent, graceMs: SKEW_MS });
  /** The last Host header that named this server: a client sends the same one each time. */
  let lastOwnHost: string | undefined;
  /**
   * At the start neither tokens nor anonymous roles were configured. The configuration allows that on loopback only,
   * and there every peer may act in every role. A reload may end this, but never begin it.
   */
  const isOpen = settings.anonymous.length === 0 && !hasSome(settings);
  let rights = rightsOf(settings);
  /** By the digest of the token. */
  const verified = createBoundedMap<string, TokenHolder>({ max: MAX_VERIFIED });

  function rightsOf(credentials: GateCredentials) {
    const { tokens: entries, keys = [] } = credentials;
    const hasCredentials = hasSome(credentials);
    const guardedTenants = new Set(entries.flatMap(({ tenantId }) => tenantId ?? []));
    const tokens = createTokenTable(entries, holderOf);
    const roles = isOpen && !hasCredentials ? ROLE_NAMES : settings.anonymous.flatMap(anonymousRolesOf);
    return {
      tokens,
      certificates: new Map(
        entries.flatMap((entry) =>
          entry.certificate === undefined ? [] : [[entry.certificate.toLowerCase(), holderOf(entry)]],
        ),
      ),
      keys,
      /** With tokens, nodes without one join no dedicated pool. */
      anonymousBinding: hasCredentials ? UNBOUND : undefined,
      anonymousRoles: new Set(roles),
      holders: new Map(entries.map((entry) => [credentialOfToken(entry), holderOf(entry)])),
      pinnedIds: new Set(entries.flatMap(({ nodeIds }) => nodeIds ?? [])),
      /** Anonymous peers may not act for tenants whose clients have tokens. With keys, every tenant may have minted ones. */
      isGuarded: (tenantId: TenantId) => keys.length > 0 || guardedTenants.has(tenantId),
    };
  }

  function anonymousPeerAt(address: string): AnonymousPeer {
    const known = anonymousPeers.get(address);
    if (known !== undefined) return known;
    const { anonymousRoles, anonymousBinding } = rights;
    const peer: AnonymousPeer = {
      isTrusted: trusted.includes(address),
      principals: anonymousPrincipals(anonymousRoles, address, anonymousBinding),
    };
    anonymousPeers.set(address, peer);
    return peer;
  }

  function namesThisServer(host: string | undefined): boolean {
    if (host !== lastOwnHost && isOwnHost(host, allowedHosts)) lastOwnHost = host;
    return host !== undefined && host === lastOwnHost;
  }

  /** Browsers add an origin to writes; to reads, some only add whether the request is cross-site. */
  function isForeignPage({ origin, host, fetchSite }: Peer): boolean {
    return origin === undefined ? fetchSite === 'cross-site' : !isOwnPage(origin, host, allowedOrigins);
  }

  function admitAnonymous(peer: Peer, roles: readonly Role[]): Admission {
    const { isTrusted, principals } = anonymousPeerAt(peer.address);
    const role = isTrusted ? firstOf(roles, rights.anonymousRoles) : undefined;
    if (role === undefined) {
      return refused('UNAUTHORIZED', `acting as ${roles.join(' or ')} requires a token`);
    }
    if (!namesThisServer(peer.host)) return FOREIGN_HOST;
    if (isForeignPage(peer)) return FOREIGN_PAGE;
    return { kind: 'admitted', principal: principals[role] };
  }

  function admitHolder(
    holder: TokenHolder | string | undefined,
    roles: readonly Role[],
    what: string,
  ): Admission {
    // A wrong credential never falls back to anonymous: its sender expects its own rights.
    if (holder === undefined) return refused('UNAUTHORIZED', `unknown ${what}`);
    // A token that has ended is no guess of a stranger.
    if (typeof holder === 'string')
      return refused('UNAUTHORIZED', holder, holder === EXPIRED ? FORMER_USER : undefined);
    const role = firstOf(roles, holder.roles);
    if (role === undefined) {
      const message = `this ${what} may not act as ${roles.join(' or ')}`;
      return refused('FORBIDDEN', message, roles[0] && holder.principals[roles[0]]);
    }
    return { kind: 'admitted', principal: holder.principals[role] };
  }

  /** A browser adds a certificate to the requests of every page. */
  function admitCertificate(peer: Peer, names: readonly string[], roles: readonly Role[]): Admission {
    if (isForeignPage(peer)) return FOREIGN_PAGE;
    const known = names.find((name) => rights.certificates.has(name.toLowerCase()));
    return admitHolder(rights.certificates.get(known?.toLowerCase() ?? ''), roles, 'client certificate');
  }

  /** A text: why it is refused. */
  function findMinted(token: string): TokenHolder | string | Promise<TokenHolder | string> {
    const { keys } = rights;
    if (keys.length === 0 || !looksMinted(token)) return 'unknown token';
    const digest = digestToken(token);
    const known = verified.get(digest);
    if (known !== undefined) return isOver(known) ? EXPIRED : known;
    return verifyToken(keys, token, clock.now()).then((result) => {
      if (result.kind !== 'valid') return result.message;
      const holder = holderOfClaims(result.claims, result.key.verifies);
      // A reload may have removed the key meanwhile.
      if (keys === rights.keys) verified.set(digest, holder);
      return holder;
    });
  }

  const isOver = ({ expiresAt = Number.POSITIVE_INFINITY }: { readonly expiresAt?: number }): boolean =>
    clock.now() > expiresAt + SKEW_MS;

  function isCurrent(principal: Principal): boolean {
    const { anonymousRoles, anonymousBinding, holders, keys } = rights;
    const { isAnonymous, credential, role, roles, binding, key } = principal;
    if (key !== undefined) return keys.some(({ verifies }) => verifies.equals(key)) && !isOver(principal);
    if (!isAnonymous) return haveSameRights(holders.get(credential)?.principals[role], principal);
    return isDeepStrictEqual(roles, anonymousRoles) && isDeepStrictEqual(binding, anonymousBinding);
  }

  function mayUseNode({ roles, nodeIds }: NodeOwner, nodeId: NodeId): boolean {
    if (roles.has('operator')) return true;
    return roles.has('node') && (nodeIds?.includes(nodeId) ?? !rights.pinnedIds.has(nodeId));
  }

  /** With the rights that it has now. Undefined: its token was removed. */
  function ownerOf(credential: string): NodeOwner | undefined {
    const { anonymousRoles: roles, anonymousBinding: binding, holders } = rights;
    return isOfAnonymous(credential) ? { roles, binding } : holders.get(credential)?.principals.node;
  }

  function countRefused(tenantId: TenantId | undefined, spending: Spending): Spending {
    if (spending.kind === 'ok') return spending;
    meter.count('scheduler_rate_limited_total', { limit: spending.limit });
    if (spending.limit === 'tenant') {
      meter.count('scheduler_tenant_refused_total', { limit: 'rate' });
      if (tenantId !== undefined) deps.tenancy?.reached(tenantId, 'rate');
    }
    return spending;
  }

  return {
    addressOf: createAddressOf(settings.trustedProxies ?? []),
    admit(peer, roles) {
      const { token, certificateNames } = peer;
      if (token === undefined) {
        return certificateNames === undefined
          ? admitAnonymous(peer, roles)
          : admitCertificate(peer, certificateNames, roles);
      }
      const holder = rights.tokens.find(token) ?? findMinted(token);
      return holder instanceof Promise
        ? holder.then((found) => admitHolder(found, roles, 'token'))
        : admitHolder(holder, roles, 'token');
    },

    changeCredentials(credentials) {
      rights = rightsOf(credentials);
      anonymousPeers.clear();
      verified.clear();
      return held.recheck();
    },

    mint: (claims) => (rights.keys.length === 0 ? undefined : mintToken(rights.keys, claims)),
    hold: held.hold,

    tenantOf(principal, named) {
      const own = principal.tenantId ?? DEFAULT_TENANT;
      if (named === undefined || named === own || seesAllTenants(principal)) {
        return { kind: 'tenant', tenantId: named ?? own };
      }
      if (principal.tenantId !== undefined) {
        return { kind: 'forbidden', message: 'tenant_id is not the tenant of this token' };
      }
      if (rights.isGuarded(named)) return { kind: 'forbidden', message: 'this tenant requires its token' };
      return { kind: 'tenant', tenantId: named };
    },

    mayUseNode,

    mayKeepNode({ nodeId, credential, binding }) {
      const owner = ownerOf(credential);
      return owner !== undefined && mayUseNode(owner, nodeId) && isDeepStrictEqual(owner.binding, binding);
    },

    tenants: budgets.size,
    spend: (tenantId) => countRefused(tenantId, budgets.spend(tenantId, clock.now())),
    spendTenantBudget: (tenantId) => countRefused(tenantId, budgets.spendTenantBudget(tenantId, clock.now())),

    enter: (principal, address) =>
      connections.enter(
        principal.role === 'node' ? undefined : (principal.tenantId ?? DEFAULT_TENANT),
        address,
      ),

    openMessageBudget() {
      const shape = { perSecond: limits.messagesPerSecond, burst: limits.messagesBurst };
      const bucket = createTokenBucket(shape, clock.now());
      return {
        spend() {
          if (bucket.take(clock.now()) === 0) return true;
          meter.count('scheduler_rate_limited_total', { limit: 'connection' });
          return false;
        },
      };
    },
  };
}

/** Without a token an operator is no client and no node: those are named on their own. */
const anonymousRolesOf = (name: AccessSettings['anonymous'][number]): readonly Role[] => {
  if (name === 'session') return ['client'];
  return name === 'operator' ? ['operator', ...rolesIn('viewer')] : [...rolesIn(name)];
};

const firstOf = (roles: readonly Role[], owned: ReadonlySet<Role>): Role | undefined =>
  roles.find((role) => owned.has(role));

/** An anonymous client that may also view acts as a client: then it may not name the tenants of tokens. */
const seesAllTenants = ({ role, roles }: Principal): boolean => role === 'viewer' || roles.has('operator');

function refused(code: 'UNAUTHORIZED' | 'FORBIDDEN', message: string, principal?: Principal): Admission {
  return { kind: 'refused', code, message, principal };
}

const FOREIGN_HOST = refused(
  'FORBIDDEN',
  'without a token the Host header must be an IP address, "localhost" or a name in server.allowed_hosts',
);
const FOREIGN_PAGE = refused(
  'FORBIDDEN',
  'without a token a web page must come from this host, or its origin must be in server.allowed_origins',
);

/** Its name is no right. */
const haveSameRights = (one: Principal | undefined, other: Principal): boolean =>
  one !== undefined && isDeepStrictEqual({ ...one, tokenName: '' }, { ...other, tokenName: '' });

const hasSome = ({ tokens, keys = [] }: GateCredentials): boolean => tokens.length + keys.length > 0;

const UNBOUND: NodeBinding = {};
