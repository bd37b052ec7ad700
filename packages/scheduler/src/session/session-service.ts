/** Hot path: what the rest of the program may ask of sessions. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Opening, Session } from './session.ts';
import type { ClientEvent } from './session-event.ts';
import type { SessionLink } from './session-output.ts';

/** What sessions need of the job engine. */
export interface JobDesk {
  dispatch(request: DispatchRequest): Promise<DispatchOutcome>;
  /** `code`: what the job then failed with. */
  cancel(jobId: JobId, message: string, code: ErrorCode): Promise<unknown>;
  waiting(): number;
}

export interface SessionView {
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  readonly openedAt: number;
  readonly isConnected: boolean;
  readonly isDeployed: boolean;
  readonly platform: string;
  readonly source: string;
  readonly target: string;
  readonly mode: string | undefined;
  /** Of the two of a two-way conversation. */
  readonly languageA: string | undefined;
  readonly languageB: string | undefined;
  readonly nextIndex: number;
  /** Number of the last outcome that left. */
  readonly deliverySeq: number;
  readonly running: number;
  /** Ready, behind one that is not. */
  readonly pending: number;
  /** Delivered and not acknowledged. */
  readonly kept: number;
  readonly audioBytes: number;
  readonly phase: Session['phase'];
  /** Without a client: when it is given up. */
  readonly expiresAt: number | undefined;
}

/** Without a cursor it is the last one. */
export interface SessionPage {
  readonly sessions: readonly SessionView[];
  readonly cursor?: string;
}

export interface SessionService {
  /** Opens one, or the one that is resumed. The client is told on its link before this returns. */
  open(opening: Opening, link: SessionLink): { kind: 'opened'; sessionId: SessionId } | { kind: 'full' };
  /** `unknown`: not open, or not for this credential. */
  receive(sessionId: SessionId, credential: string, event: ClientEvent): 'taken' | 'unknown';
  /** The connection is gone. */
  left(sessionId: SessionId, link: SessionLink): void;
  /** Heard for every job; only those of sessions matter. */
  jobMoved(job: JobRecord): void;
  /** `by`: the node that says so; heard only while the job is its own. Absent: whoever has it. */
  partial(jobId: JobId, text: string, isFinal: boolean, by?: NodeId): void;
  /** Tells everybody to move, and seals what was said. `ended`: every utterance has its outcome, or the time is over. */
  drain(limits: { reconnectAfterMs: number; limitMs: number }): { told: number; ended: Promise<void> };
  /** Newest first. A page may be short, or empty, and still have a cursor. */
  list(query: { tenantId?: TenantId; limit: number; cursor?: string }): SessionPage;
  isFull(): boolean;
  counts(): { sessions: number; connected: number; watched: number; resultBytes: number };
  stop(): void;
}
