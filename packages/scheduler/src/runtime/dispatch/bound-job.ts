/** Hot path, when a request is not admitted at once: the job it is bound to already, if it is a repeat. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { AdmitResult } from '../../ports/job-store.ts';
import type { Engine } from '../engine.ts';

/** As the store would have said it, had the request been handed in. Undefined: it is no repeat. */
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
