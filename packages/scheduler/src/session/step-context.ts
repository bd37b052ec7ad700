/** Hot path: the tools of a session's step, and the helpers that add its effects. */
import type { ErrorCode } from '../domain/errors.ts';
import type { SessionId, TenantId } from '../domain/ids.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { QuotaState } from '../domain/quota.ts';
import type { CoreServices, Require } from '../domain/requirements.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Labels } from '../ports/meter.ts';
import type { SessionEffect } from './event.ts';
import type { PressureSettings } from './outcomes/backpressure.ts';
import type { DeliverySettings } from './outcomes/delivery.ts';
import type { About, SessionOutput, UiEventName } from './output.ts';
import type { Voice } from './rooms/speak-in-room.ts';
import type { Session } from './session.ts';
import type { GroupSettings } from './speech/groups.ts';
import type { Pools } from './speech/preferred-pool.ts';
import type { SegmentationSettings } from './speech/segmentation.ts';

export interface SessionSettings {
  readonly segmentation: SegmentationSettings;
  readonly paddingAutoMs: number;
  readonly paddingManualMs: number;
  readonly delivery: DeliverySettings;
  readonly group: GroupSettings;
  readonly pressure: PressureSettings;
  readonly resumeTtlMs: number;
  readonly pendingTimeoutMs: number;
  readonly jobDeadlineMs: number;
  readonly maxSessions: number;
  /** Of all sessions together; above it the session that has been disconnected longest is evicted. */
  readonly maxResultBytesTotal: number;
  /** Utterances of one session without an outcome. */
  readonly maxUtterances: number;
  readonly maxAudioBytes: number;
  readonly indexBase: IndexBase;
  readonly coreServices: CoreServices;
}

/** First utterance_index of a session. `time`: of a legacy one, tenths of seconds; of others 0. */
export type IndexBase = 'time' | '0' | 'random';

/** Passed to every step; every call is synchronous. */
export interface StepTools {
  readonly settings: SessionSettings;
  readonly ids: Pick<IdSource, 'jobId' | 'traceId' | 'digest'>;
  readonly audio: Pick<AudioStore, 'claim' | 'unclaim' | 'usedShare'>;
  readonly pools: Pools;
  readonly require: Require;
  /** A quota that the tenant has reached, from memory. */
  readonly reachedQuota: (tenantId: TenantId) => QuotaState | undefined;
  /** Fill level of the queue of jobs without a slot, 0 to 1. */
  readonly queueShare: () => number;
  /** Whether and in which language the session speaks in its room. Undefined: it is in none. */
  readonly voiceInRoom: (sessionId: SessionId) => Voice | undefined;
  /** Every delivered outcome is reported to the tracer. */
  readonly isTraced: boolean;
}

export interface Step extends StepTools {
  readonly at: number;
  readonly effects: SessionEffect[];
}

export function send(step: Step, session: Session, output: SessionOutput): void {
  if (session.link !== undefined) step.effects.push({ kind: 'send', output });
}

const NO_LABELS: Labels = {};

export function count(step: Step, name: MetricName, labels: Labels = NO_LABELS, by = 1): void {
  step.effects.push({ kind: 'count', name, labels, by });
}

export function sendUiEvent(
  step: Step,
  session: Session,
  about: About,
  event: UiEventName,
  since: number,
  errorCode?: ErrorCode,
  hint?: string,
): void {
  const elapsedMs = step.at - since;
  send(
    step,
    session,
    errorCode === undefined
      ? { kind: 'ui_event', about, event, elapsedMs }
      : { kind: 'ui_event', about, event, elapsedMs, errorCode, hint },
  );
}
