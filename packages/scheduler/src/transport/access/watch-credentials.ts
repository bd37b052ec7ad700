/**
 * Hot path: a gate that also watches credentials: it counts and audits refused ones, audits the first use of a token from an address, and
 * throttles addresses that send unknown tokens. Synchronous.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { type CountedEvents, createCountedEvents } from './counted-events.ts';
import { type Admission, describePrincipal, type Gate, type Peer, type Principal } from './gate.ts';
import { isLoopbackAddress, networkOf } from './networks.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

export interface WatchedGate extends Gate {
  /** Writes the counts of refusals that have no line of their own yet. */
  stop(): void;
}

type Refused = Extract<Admission, { kind: 'refused' }>;

const MAX_ADDRESSES = 10_000;
/** Of one address: a gateway has many. */
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
  /** Address → credentials that were admitted from it. */
  const known = createBoundedMap<string, Set<string>>({ max: MAX_ADDRESSES });
  /** Network → what it may still send of unknown tokens. */
  const budgets = createBoundedMap<string, TokenBucket>({ max: MAX_ADDRESSES });

  function budgetOf(address: string): TokenBucket {
    const network = networkOf(address);
    const found = budgets.get(network);
    if (found !== undefined) return found;
    const shape = { perSecond: maxUnknownPerMinute / 60, burst: maxUnknownPerMinute };
    const budget = createTokenBucket(shape, clock.now());
    budgets.set(network, budget);
    return budget;
  }

  /** Milliseconds until the address may send an unknown token again. */
  function throttledFor(address: string): number {
    const budget = budgets.get(networkOf(address));
    if (budget === undefined) return 0;
    const waitMs = budget.take(clock.now());
    if (waitMs === 0) budget.refund();
    return waitMs;
  }

  function firstUse(principal: Principal, address: string): Refused | undefined {
    // A proxy on this machine is the address of all its clients. Of other proxies see server.trusted_proxies.
    const waitMs = isLoopbackAddress(address) ? 0 : throttledFor(address);
    // Otherwise a right guess would be told from wrong ones.
    if (waitMs > 0) return throttled(waitMs);
    const credentials = known.get(address) ?? new Set();
    if (credentials.size >= MAX_CREDENTIALS) credentials.clear();
    credentials.add(principal.credential);
    known.set(address, credentials);
    const event = { action: 'useNewAddress', result: 'done', who: describePrincipal(principal) } as const;
    events.record({
      ...event,
      from: address,
      details: { role: principal.role, tenant_id: principal.tenantId },
    });
    return undefined;
  }

  function refuse(refusal: Refused, { address }: Peer): Refused {
    const { code, principal } = refusal;
    // A genuine token that may not do this, or has ended, is no guess.
    const waitMs = principal === undefined ? budgetOf(address).take(clock.now()) : 0;
    const why = principal === undefined ? 'unknown' : code === 'FORBIDDEN' ? 'role' : 'expired';
    meter.count('scheduler_credentials_refused_total', { reason: waitMs > 0 ? 'throttled' : why });
    const who = principal === undefined ? 'unknown' : describePrincipal(principal);
    const event = { action: 'refuseCredential', result: 'refused', who, from: address } as const;
    events.record({ ...event, details: { reason: why } });
    return waitMs > 0 ? throttled(waitMs) : refusal;
  }

  function note(peer: Peer, admission: Admission): Admission {
    if (peer.token === undefined) {
      if (admission.kind === 'refused')
        meter.count('scheduler_credentials_refused_total', { reason: 'missing' });
      return admission;
    }
    if (admission.kind === 'refused') return refuse(admission, peer);
    const { principal } = admission;
    if (known.get(peer.address)?.has(principal.credential) === true) return admission;
    return firstUse(principal, peer.address) ?? admission;
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

const throttled = (retryAfterMs: number): Refused => ({
  kind: 'refused',
  code: 'RATE_LIMITED',
  message: 'too many unknown tokens from this address',
  retryAfterMs,
});
