/**
 * Hot path: a gate that also watches credentials: it counts and audits refused ones, audits the first use of a token from a network, and
 * throttles networks that send unknown tokens. A valid token always gets through: behind a gateway or proxy its owner shares an address
 * with others, and tokens are too long to be guessed at any rate. Synchronous.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { type CountedEvents, createCountedEvents } from './counted-events.ts';
import { type Admission, describePrincipal, type Gate, type Peer, type Principal } from './gate.ts';
import { networkOf } from './networks.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

export interface WatchedGate extends Gate {
  /** Writes the counts of refusals that have no line of their own yet. */
  stop(): void;
}

type Refused = Extract<Admission, { kind: 'refused' }>;

const MAX_NETWORKS = 10_000;
/** Of one network: a gateway has many. */
const MAX_CREDENTIALS = 10_000;

export function watchCredentials(
  gate: Gate,
  deps: {
    readonly clock: Clock;
    readonly meter: Pick<Meter, 'count'>;
    readonly audit: AuditLog;
    /** Unknown tokens that one address may send. */
    readonly maxUnknownPerMinute: number;
  },
): WatchedGate {
  const { clock, meter, audit, maxUnknownPerMinute } = deps;
  const events: CountedEvents = createCountedEvents({ clock, audit });
  /** Network → credentials that were admitted from it. Strangers are not among them, so they flush none. */
  const known = createBoundedMap<string, Set<string>>({ max: MAX_NETWORKS });
  /** Network → what it may still send of unknown tokens. */
  const budgets = createBoundedMap<string, TokenBucket>({ max: MAX_NETWORKS });

  function budgetOf(network: string): TokenBucket {
    const found = budgets.get(network);
    if (found !== undefined) return found;
    const shape = { perSecond: maxUnknownPerMinute / 60, burst: maxUnknownPerMinute };
    const budget = createTokenBucket(shape, clock.now());
    budgets.set(network, budget);
    return budget;
  }

  function noteFirstUse(principal: Principal, address: string): void {
    const network = networkOf(address);
    const credentials = known.get(network) ?? new Set();
    if (credentials.has(principal.credential)) return;
    if (credentials.size >= MAX_CREDENTIALS) credentials.clear();
    credentials.add(principal.credential);
    known.set(network, credentials);
    const { role, tenantId } = principal;
    const event = { action: 'useNewAddress', result: 'done', who: describePrincipal(principal) } as const;
    const details = { role, tenant_id: tenantId };
    events.record({ ...event, from: address, details }, { group: groupOf(principal), source: network });
  }

  function refuse(refusal: Refused, { address }: Peer): Refused {
    const { code, principal } = refusal;
    const network = networkOf(address);
    // A genuine token that may not do this, or has ended, is no guess.
    const isGuess = principal === undefined && code === 'UNAUTHORIZED';
    const waitMs = isGuess ? budgetOf(network).take(clock.now()) : 0;
    const why = isGuess ? 'unknown' : code === 'FORBIDDEN' ? 'role' : 'expired';
    meter.count('scheduler_credentials_refused_total', { reason: waitMs > 0 ? 'throttled' : why });
    const who = principal === undefined ? 'unknown' : describePrincipal(principal);
    const event = { action: 'refuseCredential', result: 'refused', who, from: address } as const;
    const group = principal === undefined ? 'unknown' : groupOf(principal);
    events.record({ ...event, details: { reason: why } }, { group, source: network });
    return waitMs > 0 ? throttled(waitMs) : refusal;
  }

  function note(peer: Peer, admission: Admission): Admission {
    if (peer.token === undefined && peer.certificateNames === undefined) {
      if (admission.kind === 'refused')
        meter.count('scheduler_credentials_refused_total', { reason: 'missing' });
      return admission;
    }
    if (admission.kind === 'refused') return refuse(admission, peer);
    noteFirstUse(admission.principal, peer.address);
    return admission;
  }

  return {
    ...gate,
    admit(peer, roles) {
      const admission = gate.admit(peer, roles);
      return admission instanceof Promise
        ? admission.then((given) => note(peer, given))
        : note(peer, admission);
    },
    stop: events.stop,
  };
}

/** The users of one tenant's server are one group, because that server can invent them. */
const groupOf = (principal: Principal): string =>
  principal.key === undefined ? describePrincipal(principal) : `minted by ${principal.mintedBy ?? 'a key'}`;

const throttled = (retryAfterMs: number): Refused => ({
  kind: 'refused',
  code: 'RATE_LIMITED',
  message: 'too many unknown tokens from this address',
  retryAfterMs,
});
