/** Vocabulary: the limits of each tenant, and the share of them that one of several instances grants. Pure. */
import type { TenantId } from './ids.ts';
import type { Degradation } from './job-spec.ts';

/** Most urgent first. */
export const PRIORITIES = ['high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Waiting jobs that were already tried once come before all others. */
export type WaitingClass = 'retry' | Priority;
export const WAITING_CLASSES: readonly WaitingClass[] = ['retry', ...PRIORITIES];

/** The requested priority, but at most the ceiling, which is also the default. */
export const priorityWithin = (ceiling: Priority, requested: Priority | undefined): Priority =>
  requested !== undefined && PRIORITIES.indexOf(requested) > PRIORITIES.indexOf(ceiling)
    ? requested
    : ceiling;

/** Limits hold over all instances; Infinity: there is none. */
export interface TenantTerms {
  /** Waiting jobs of the same class that are served per turn, above 0 and at most 1: the weight as a share of the largest. */
  readonly quantum: number;
  /** The default priority of its jobs, and the highest they may request. */
  readonly priority: Priority;
  readonly maxSessions: number;
  /** Jobs that have a node or are being dispatched; jobs that wait for a slot count as waiting. */
  readonly maxInflightJobs: number;
  readonly maxWaiting: number;
  readonly requestsPerSecond: number;
  /** What its jobs do without before they are refused; absent: nothing. */
  readonly degrades?: readonly Degradation[] | undefined;
}

/** The limits of a tenant that are settings of its own. */
export type TenantQuota = 'sessions' | 'inflight' | 'waiting' | 'rate';

export interface Tenancy {
  of(tenantId: TenantId): TenantTerms;
  /** Tenants with terms of their own. */
  readonly named: readonly TenantId[];
  /**
   * The share of a tenant's limit that this instance grants; changes as instances come and go. At most `maxShare` of `within`, the limit of
   * this instance for all tenants.
   */
  share(limit: number, within?: number): number;
  /** The most that one tenant may use of a limit of this instance: from 0 to 1, where 1 is all of it. */
  readonly maxShare: number;
  /** Instances that share the limits. */
  instances(): number;
  /** Jobs and sessions are counted by tenant only if some tenant has a limit for them. */
  readonly capsJobs: boolean;
  readonly capsSessions: boolean;
  /** Something was refused because of this limit of the tenant: reported to operators. */
  reached(tenantId: TenantId, limit: TenantQuota): void;
}

/**
 * Rounded up, so that every instance grants something of a small limit: at most `instances − 1` too many in total. What one instance does
 * not use is not available to the others.
 */
export const shareOf = (limit: number, instances: number): number =>
  Math.ceil(limit / Math.max(1, instances));

/** What one tenant may use of a limit for all. Rounded down, so that two halves fit. */
export const partOf = (limit: number, share: number): number =>
  share >= 1 ? limit : Math.max(1, Math.floor(limit * share));

/** `others`: the terms of tenants without terms of their own. `instances`: how many live, this one included. */
export function createTenancy(
  named: ReadonlyMap<TenantId, TenantTerms>,
  others: TenantTerms,
  instances: () => number,
  maxShare = 1,
  reached: Tenancy['reached'] = () => {},
): Tenancy {
  const all = [others, ...named.values()];
  return {
    of: (tenantId) => named.get(tenantId) ?? others,
    named: [...named.keys()],
    share: (limit, within = Number.POSITIVE_INFINITY) =>
      Math.min(shareOf(limit, instances()), partOf(within, maxShare)),
    maxShare,
    instances,
    capsJobs: all.some(({ maxInflightJobs }) => Number.isFinite(maxInflightJobs)),
    capsSessions: maxShare < 1 || all.some(({ maxSessions }) => Number.isFinite(maxSessions)),
    reached,
  };
}

/** All tenants equal, one instance. */
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
    named: [],
    share: (limit) => limit,
    maxShare: 1,
    instances: () => 1,
    capsJobs: all.maxInflightJobs !== Number.POSITIVE_INFINITY,
    capsSessions: all.maxSessions !== Number.POSITIVE_INFINITY,
    reached() {},
  };
}
