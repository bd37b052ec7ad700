/**
 * Hot path: the compact form of a released job in the memory store: few objects, small numbers. It never changes and is rarely read, but
 * until it is dropped the garbage collector has to process it. Never returned: a reader gets a record.
 */
import type { JobId, SessionId, TenantId } from '../../domain/ids.ts';
import type { Attempt, JobRecord, JobState, TimelineEntry } from '../../domain/job.ts';
import type { JobResult, JobSpec } from '../../domain/job-spec.ts';

/** Five values per entry: state, milliseconds since the job was created, attempt, node, reason. */
type PackedTimeline = (string | number | undefined)[];

const WIDTH = 5;

export class PackedJob {
  readonly jobId: JobId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly requestId: string | undefined;
  readonly fingerprint: string | undefined;
  readonly spec: JobSpec;
  readonly state: JobState;
  readonly fence: Attempt | undefined;
  readonly intent: Attempt | undefined;
  private readonly createdAt: number;
  /** Not the deadline itself: V8 allocates an object for a number as large as an epoch time. */
  private readonly lifeMs: number;
  private readonly packedTimeline: PackedTimeline;
  readonly failure: JobRecord['failure'];
  private readonly result: JobResult | undefined;

  constructor(job: JobRecord) {
    this.jobId = job.jobId;
    this.tenantId = job.tenantId;
    this.sessionId = job.sessionId;
    this.requestId = job.requestId;
    this.fingerprint = job.fingerprint;
    this.spec = job.spec;
    this.state = job.state;
    this.fence = job.fence;
    this.intent = job.intent;
    this.createdAt = job.createdAt;
    this.lifeMs = job.deadlineAt - job.createdAt;
    this.packedTimeline = pack(job.timeline, job.createdAt);
    this.failure = job.failure;
    this.result = job.result;
  }

  unpack(): JobRecord {
    return {
      jobId: this.jobId,
      tenantId: this.tenantId,
      sessionId: this.sessionId,
      requestId: this.requestId,
      fingerprint: this.fingerprint,
      spec: this.spec,
      need: undefined,
      state: this.state,
      fence: this.fence,
      intent: this.intent,
      createdAt: this.createdAt,
      deadlineAt: this.createdAt + this.lifeMs,
      timeline: unpack(this.packedTimeline, this.createdAt),
      failure: this.failure,
      result: this.result,
    };
  }
}

function pack(timeline: readonly TimelineEntry[], since: number): PackedTimeline {
  const packed: PackedTimeline = new Array(timeline.length * WIDTH);
  let at = 0;
  for (const entry of timeline) {
    packed[at] = entry.state;
    packed[at + 1] = entry.at - since;
    packed[at + 2] = entry.attempt;
    packed[at + 3] = entry.nodeId;
    packed[at + 4] = entry.reason;
    at += WIDTH;
  }
  return packed;
}

function unpack(packed: PackedTimeline, since: number): TimelineEntry[] {
  const timeline: TimelineEntry[] = [];
  for (let at = 0; at < packed.length; at += WIDTH) {
    timeline.push({
      state: packed[at] as JobState,
      at: since + (packed[at + 1] as number),
      attempt: packed[at + 2] as number,
      nodeId: packed[at + 3] as string | undefined,
      reason: packed[at + 4] as string | undefined,
    });
  }
  return timeline;
}
