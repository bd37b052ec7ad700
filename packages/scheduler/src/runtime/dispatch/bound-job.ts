/** Failure path: the job that a repeated request is bound to. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { AdmitResult } from '../../ports/job-store.ts';
import type { Engine } from '../engine.ts';

/** What `admit` would return for it. Undefined: the request is not a repeat. */
export type Bound = Extract<AdmitResult, { job: JobRecord }> | 'down' | undefined;

export async function boundJob(engine: Engine, request: DispatchRequest): Promise<Bound> {
  if (request.requestId === undefined) return undefined;
  try {
    const job = await engine.store.bound(request.tenantId, request.requestId);
    if (job === undefined) return undefined;
    return { kind: job.fingerprint === request.fingerprint ? 'existing' : 'conflict', job };
  } catch {
    engine.meter.count('scheduler_dependency_down_total');
    return 'down';
  }
}
