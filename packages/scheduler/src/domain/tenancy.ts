/** Vocabulary: what each tenant may have, and how much of that one of several instances grants. Pure. */
import type { TenantId } from './ids.ts';
import type { Priority } from './priority.ts';

/** Limits hold over all instances; Infinity: there is none. */
export interface TenantTerms {
  /** Waiting jobs of the same class that it may have served per turn, above 0 and at most 1: its weight as a share of the largest. */
  readonly quantum: number;
  /** What its jobs get, and the most they may ask for. */
  readonly priority: Priority;
  readonly maxSessions: number;
  /** Jobs that have a node or are on their way to one; those that wait for a slot count as waiting. */
  readonly maxInflightJobs: number;
  readonly maxWaiting: number;
  readonly requestsPerSecond: number;
}

export interface Tenancy {
  of(tenantId: TenantId): TenantTerms;
  /** What this instance grants of a limit that holds over all; changes as instances come and go. */
  share(limit: number): number;
  /** Instances that share the limits. */
  instances(): number;
  /** Nobody counts jobs, or sessions, by tenant unless some tenant has a cap on them. */
  readonly capsJobs: boolean;
  readonly capsSessions: boolean;
}

/**
 * Rounded up, so that a small limit leaves every instance something: `instances − 1` too many in all. What one instance does not
 * use the others do not get.
 */
export const shareOf = (limit: number, instances: number): number =>
  Math.ceil(limit / Math.max(1, instances));

/** All tenants alike, on one instance alone. */
export function equalTenancy(terms: Partial<TenantTerms> = {}): Tenancy {
  const all: TenantTerms = {
    quantum: 1,
    priority: 'normal',
    maxSessions: Number.POSITIVE_INFINITY,
    maxInflightJobs: Number.POSITIVE_INFINITY,
    maxWaiting: Number.POSITIVE_INFINITY,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    ...terms,
  };
  return {
    of: () => all,
    share: (limit) => limit,
    instances: () => 1,
    capsJobs: all.maxInflightJobs !== Number.POSITIVE_INFINITY,
    capsSessions: all.maxSessions !== Number.POSITIVE_INFINITY,
  };
}
