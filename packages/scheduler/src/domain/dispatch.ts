/** Vocabulary: a request for one job, and what comes of it at once. Both edges — HTTP and sessions — speak it. */
import type { ErrorCode } from './errors.ts';
import type { JobId, SessionId, TenantId } from './ids.ts';
import type { JobRecord } from './job.ts';
import type { JobSpec } from './job-spec.ts';
import type { Need, RejectionCount } from './need.ts';
import type { Priority } from './priority.ts';

export interface DispatchRequest {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  /** Absent: not idempotent, nothing is bound. */
  readonly requestId?: string | undefined;
  /** Digest of the body; with requestId. */
  readonly fingerprint?: string | undefined;
  /** Given by callers that must know the name before the job moves; absent: the engine makes one. A repeat keeps its first. */
  readonly jobId?: JobId | undefined;
  readonly need: Need;
  readonly spec: JobSpec;
  /** The bytes, if `spec.audio` says that they are held here. */
  readonly audio?: Buffer | undefined;
  /** How long to wait for a slot; 0 = answer at once. */
  readonly waitMs: number;
  /** How urgent it is while it waits, within what its tenant may ask for; absent: as its tenant is. */
  readonly priority?: Priority | undefined;
  /** The job is recorded and ours from here on, whether or not it has a node yet. Called at most once, before the outcome. */
  readonly admitted?: ((job: JobRecord) => void) | undefined;
}

export type DispatchOutcome =
  /** `isRepeat`: the request was already bound; this is the same job. */
  | { readonly kind: 'dispatched'; readonly job: JobRecord; readonly isRepeat: boolean }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly reasons?: readonly RejectionCount[];
    };
