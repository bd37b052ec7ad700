/** I10: work of a tenant with a strict pool runs only there, and no client sees jobs of another tenant. Pure. */
import { nameOf, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import type { Finding, Violation } from './violation.ts';

interface Owner {
  readonly request: string;
  readonly tenant: string;
  readonly pool: string | undefined;
}

export function checkIsolation({ history, stories: all }: Facts): Finding {
  const stories = all.filter(({ tenant }) => tenant !== undefined);
  /** By job. A job whose acceptance no client received is known by its result. */
  const owners = new Map<string, Owner>();
  const violations: Violation[] = [];
  const found = (at: number, message: string, about: readonly string[]): void => {
    violations.push({ invariant: 'I10 isolation', at, message, about });
  };
  let judged = 0;

  for (const { request, tenant = '', pool, jobs, acceptedAt = 0 } of stories) {
    for (const job of jobs.keys()) {
      const other = owners.get(job);
      if (other !== undefined && other.tenant !== tenant)
        found(
          acceptedAt,
          `${request} of ${tenant} and ${other.request} of ${other.tenant} got the same ${job}`,
          [request, other.request, job],
        );
      else owners.set(job, { request, tenant, pool });
    }
  }
  for (const { request, tenant, outcomes } of stories) {
    for (const { result, at } of outcomes) {
      const job = result?.by?.job;
      const owner = job === undefined ? undefined : owners.get(job);
      if (job === undefined || owner === undefined) continue;
      judged += 1;
      if (owner.tenant !== tenant)
        found(at, `${request} of ${tenant} got the result of ${job}, which is of ${owner.tenant}`, [
          request,
          job,
        ]);
    }
  }
  const poolOf = new Map<string, string | undefined>();
  for (const each of ofKind(history, 'node_up', 'assigned')) {
    if (each.kind === 'node_up') {
      poolOf.set(each.node, each.pool);
      continue;
    }
    const { node, job, at } = each;
    const owner = owners.get(job);
    if (owner?.pool === undefined) continue;
    judged += 1;
    const pool = poolOf.get(node);
    if (pool !== owner.pool)
      found(
        at,
        `${node} of ${pool ?? 'no pool'} got ${nameOf(each)} of ${owner.tenant}, which may have nodes of ${owner.pool} only`,
        [job, node],
      );
  }
  const peeks = ofKind(history, 'peeked');
  for (const { at, client, tenant, job, didSee } of peeks) {
    judged += 1;
    if (didSee) found(at, `${client} of ${tenant} saw ${job}, which is not of its tenant`, [job, client]);
  }
  return {
    violations,
    counts: {
      tenants: new Set(stories.map(({ tenant }) => tenant)).size,
      'jobs read by other tenants': peeks.length,
    },
    judged: { 'I10 isolation': judged },
  };
}
