/** Vocabulary: a request for one job and its immediate outcome. Used by HTTP and by sessions. */
import type { ErrorCode } from './errors.ts';
import type { JobId, SessionId, TenantId } from './ids.ts';
import type { JobRecord } from './job.ts';
import type { JobSpec } from './job-spec.ts';
import type { Need, RefusalReason, RejectionCount } from './need.ts';
import type { PoolId } from './pool.ts';
import type { Priority } from './tenancy.ts';

export interface DispatchRequest {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  /** Absent: not idempotent, nothing is bound. */
  readonly requestId?: string | undefined;
  /** Digest of the body; with requestId. */
  readonly fingerprint?: string | undefined;
  /** Given by callers that need the id before the job starts; absent: the engine makes one. A repeated request keeps the first id. */
  readonly jobId?: JobId | undefined;
  readonly need: Need;
  readonly spec: JobSpec;
  /** The audio bytes, if `spec.audio` is `held`. */
  readonly audio?: Buffer | undefined;
  /** How long to wait for a slot; 0 = answer at once. */
  readonly waitMs: number;
  /** Priority while the job waits, limited by its tenant; absent: the priority of the tenant. */
  readonly priority?: Priority | undefined;
  /** When the job must be over, if that is earlier than its own deadline: all jobs of a plan share one. */
  readonly deadlineAt?: number | undefined;
  /** The client asked for a voice: a text alone is not enough, whatever the tenant allows. */
  readonly isVoiceRequired?: boolean | undefined;
  /** It continues an accepted request: while it waits, it goes before the new work of its tenant. */
  readonly isDependant?: boolean | undefined;
  /** The job is recorded, with or without a node. Called at most once, before the outcome. */
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
      /** The judged one: what excluded the nodes that passed every stage before. Absent: the code says all. */
      readonly mainReason?: RefusalReason | undefined;
      /** What the caller can do about this cause; absent: the hint of the code. */
      readonly hint?: string | undefined;
      /** `null`: a retry alone does not help. Absent: not known. */
      readonly retryAfterMs?: number | null | undefined;
      /** The pool whose lack of slots or nodes refused it; absent: there are no pools, or more nodes would not have helped. */
      readonly fullPool?: PoolId | undefined;
    };
