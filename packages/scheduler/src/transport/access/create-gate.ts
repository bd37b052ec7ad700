/** The gate: who may come in by token or by network, as which tenant and node, and how often. */
import { createHash } from 'node:crypto';
import { DEFAULT_TENANT } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { type ConnectionLimits, createConnectionCounts } from './connection-counts.ts';
import type { Admission, Gate, Peer, Principal, Role } from './gate.ts';
import { isLoopbackHost } from './loopback-host.ts';
import { createNetworks, isLoopbackAddress, plainAddress } from './networks.ts';
import {
  createRequestBudgets,
  type RequestLimits,
  type RequestRate,
  type Spending,
} from './request-budgets.ts';
import { createTokenBucket } from './token-bucket.ts';
import { createTokenTable, type TokenEntry } from './tokens.ts';

export interface AccessSettings {
  readonly tokens: readonly TokenEntry[];
  /** Roles let in without a token from the trusted networks, as server.anonymous names them. */
  readonly anonymous: readonly ('session' | 'node' | 'operator')[];
  /** CIDR. */
  readonly trustedNetworks: readonly string[];
  /** Origins whose pages may open sockets; empty = not checked, `*` = any. */
  readonly allowedOrigins: readonly string[];
  readonly limits: ConnectionLimits &
    RequestLimits & { readonly messagesPerSecond: number; readonly messagesBurst: number };
}

const ALL_ROLES: ReadonlySet<Role> = new Set<Role>(['node', 'client', 'operator']);
const MAX_KNOWN_ADDRESSES = 10_000;

/** What a peer without a token is, by its address alone. */
interface Stranger {
  readonly isTrusted: boolean;
  readonly principals: Readonly<Record<Role, Principal>>;
}

export function createGate(deps: {
  clock: Clock;
  meter: Meter;
  settings: AccessSettings;
  tenancy?: RequestRate | undefined;
}): Gate {
  const { clock, meter, settings } = deps;
  const { limits } = settings;
  const tokens = createTokenTable(settings.tokens, principalsOf);
  const trusted = createNetworks(settings.trustedNetworks);
  const origins = new Set(settings.allowedOrigins);
  const budgets = createRequestBudgets(limits, clock.now(), deps.tenancy);
  const connections = createConnectionCounts(limits);
  const strangers = new Map<string, Stranger>();
  /** The last Host header that named this machine. */
  let lastHere: string | undefined;
  /** Nobody is named at all: the configuration allows that on loopback only, and there everybody may do everything. */
  const isOpen = tokens.isEmpty && settings.anonymous.length === 0;
  const anonymousRoles = isOpen ? ALL_ROLES : new Set(settings.anonymous.map(roleOf));
  /** Their own clients prove themselves, so strangers may not act in their name. */
  const guardedTenants = new Set(settings.tokens.flatMap(({ tenantId }) => tenantId ?? []));

  function strangerAt(address: string): Stranger {
    const known = strangers.get(address);
    if (known !== undefined) return known;
    if (strangers.size >= MAX_KNOWN_ADDRESSES) strangers.clear();
    const stranger: Stranger = {
      isTrusted: trusted.includes(address),
      principals: forEachRole((role) => ({
        role,
        roles: anonymousRoles,
        credential: credentialOf(address),
        isAnonymous: true,
      })),
    };
    strangers.set(address, stranger);
    return stranger;
  }

  /** Whoever comes again and again names it the same each time. */
  function isHere(host: string | undefined): boolean {
    if (host !== lastHere && isLoopbackHost(host)) lastHere = host;
    return host !== undefined && host === lastHere;
  }

  function admitStranger(peer: Peer, role: Role): Admission {
    const { isTrusted, principals } = strangerAt(peer.address);
    if (!isTrusted || !anonymousRoles.has(role)) {
      return refused('UNAUTHORIZED', `acting as ${role} needs a token`);
    }
    // Only here: a server that others reach may be known to them under any name.
    if (isOpen && !isHere(peer.host)) {
      return refused(
        'FORBIDDEN',
        'without tokens the Host header must name this machine, such as "localhost"',
      );
    }
    return { kind: 'admitted', principal: principals[role] };
  }

  function noted(spending: Spending): Spending {
    if (spending.kind === 'ok') return spending;
    meter.count('scheduler_rate_limited_total', { limit: spending.limit });
    if (spending.limit === 'tenant') meter.count('scheduler_tenant_refused_total', { limit: 'rate' });
    return spending;
  }

  return {
    admit(peer, role) {
      if (peer.origin !== undefined && origins.size > 0 && !origins.has('*') && !origins.has(peer.origin)) {
        return refused('FORBIDDEN', 'this origin is not in server.allowed_origins');
      }
      if (peer.token === undefined) return admitStranger(peer, role);
      const principal = tokens.find(peer.token);
      // A wrong token never falls back to anonymous: whoever sends one believes to be somebody.
      if (principal === undefined) return refused('UNAUTHORIZED', 'the token is not known here');
      const acting = principal[role];
      if (!acting.roles.has(role)) return refused('FORBIDDEN', `this token may not act as ${role}`);
      return { kind: 'admitted', principal: acting };
    },

    tenantOf(principal, named) {
      const own = principal.tenantId ?? DEFAULT_TENANT;
      if (named === undefined || named === own || principal.roles.has('operator')) {
        return { kind: 'tenant', tenantId: named ?? own };
      }
      if (principal.tenantId !== undefined) {
        return { kind: 'forbidden', message: 'tenant_id is not the tenant of this token' };
      }
      if (guardedTenants.has(named)) return { kind: 'forbidden', message: 'this tenant needs its token' };
      return { kind: 'tenant', tenantId: named };
    },

    mayUseNode(principal, nodeId) {
      if (principal.roles.has('operator')) return true;
      return principal.roles.has('node') && (principal.nodeIds?.includes(nodeId) ?? true);
    },

    tenants: budgets.size,
    spend: (tenantId) => noted(budgets.spend(tenantId, clock.now())),
    spendOfTenant: (tenantId) => noted(budgets.spendOfTenant(tenantId, clock.now())),

    enter: (principal, address) =>
      connections.enter(
        principal.role === 'node' ? undefined : (principal.tenantId ?? DEFAULT_TENANT),
        plainAddress(address),
      ),

    openMeterFor() {
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

const roleOf = (name: AccessSettings['anonymous'][number]): Role => (name === 'session' ? 'client' : name);

const refused = (code: 'UNAUTHORIZED' | 'FORBIDDEN', message: string): Admission => ({
  kind: 'refused',
  code,
  message,
});

const forEachRole = (make: (role: Role) => Principal): Readonly<Record<Role, Principal>> => ({
  node: make('node'),
  client: make('client'),
  operator: make('operator'),
});

function principalsOf(entry: TokenEntry): Readonly<Record<Role, Principal>> {
  const tenantId = entry.tenantId ?? (entry.role === 'client' ? DEFAULT_TENANT : undefined);
  return forEachRole((role) => ({
    role,
    roles: entry.role === 'operator' ? ALL_ROLES : new Set([entry.role]),
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(entry.nodeIds === undefined ? {} : { nodeIds: entry.nodeIds }),
    credential: `token:${entry.sha256.toLowerCase().slice(0, 32)}`,
    isAnonymous: false,
  }));
}

/** 127.0.0.1 and ::1 are one peer: which of them "localhost" becomes is the client's whim. */
function credentialOf(address: string): string {
  const who = isLoopbackAddress(address) ? 'loopback' : plainAddress(address);
  return `peer:${createHash('sha256').update(who).digest('hex').slice(0, 32)}`;
}
