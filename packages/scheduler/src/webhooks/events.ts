/** Failure and hot path: the events that receivers of webhooks get. Pure. Their schema is WebhookEvent of the protocol. */
import type { NodeId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import { jobOutcome } from '../domain/job-query.ts';
import type { RoomRecord } from '../domain/room.ts';
import type { TenantQuota } from '../domain/tenancy.ts';

export type WebhookType = 'job_ended' | 'room_ended' | 'node_lost' | 'quota_reached';

export interface WebhookEvent {
  /** The same in every try, and on every instance that sends it. */
  readonly id: string;
  readonly type: WebhookType;
  readonly at_ms: number;
  /** Absent: for operators. */
  readonly tenant_id?: TenantId;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Whose texts an event may contain. */
export interface EventSubject {
  readonly jobId: string;
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
}

export function jobEnded(job: JobRecord, withTexts: boolean): WebhookEvent {
  const { spec, result, failure } = job;
  return {
    id: `job_ended:${job.jobId}`,
    type: 'job_ended',
    at_ms: job.timeline.at(-1)?.at ?? job.createdAt,
    tenant_id: job.tenantId,
    data: {
      job_id: job.jobId,
      outcome: jobOutcome(job),
      code: failure?.code,
      session_id: job.sessionId,
      utterance_index: spec.utteranceIndex,
      request_id: job.requestId,
      trace_id: spec.traceId,
      src_lang: spec.sourceLanguage,
      tgt_lang: spec.targetLanguage,
      audio_ms: job.audioMs,
      created_at_ms: job.createdAt,
      ...(withTexts && { text_asr: result?.textAsr, text_translated: result?.textTranslated }),
    },
  };
}

/** A repeat is the same event: a room ends once. */
export const roomEnded = (
  { roomId, tenantId, createdAt, endedAt = createdAt, isRecorded }: RoomRecord,
  reason: 'ended' | 'expired',
  retentionMs: number,
): WebhookEvent => ({
  id: `room_ended:${roomId}`,
  type: 'room_ended',
  at_ms: endedAt,
  tenant_id: tenantId,
  data: {
    room_id: roomId,
    reason,
    created_at_ms: createdAt,
    recorded: isRecorded,
    ...(isRecorded && { transcript_until_ms: endedAt + retentionMs }),
  },
});

export type LossReason = 'disconnected' | 'heartbeat_timeout';

export const isLoss = (reason: string): reason is LossReason =>
  reason === 'disconnected' || reason === 'heartbeat_timeout';

export const nodeLost = (nodeId: NodeId, reason: LossReason, now: number): WebhookEvent => ({
  id: `node_lost:${nodeId}:${now}`,
  type: 'node_lost',
  at_ms: now,
  data: { node_id: nodeId, reason },
});

export const quotaReached = (tenantId: TenantId, limit: TenantQuota, now: number): WebhookEvent => ({
  id: `quota_reached:${tenantId}:${limit}:${now}`,
  type: 'quota_reached',
  at_ms: now,
  data: { tenant_id: tenantId, limit },
});
