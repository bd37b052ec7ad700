/** Prints where the time of a job went, on one axis. Pure. */
import type { JobSpan } from '@lingua/protocol';
import type { JobRecord } from '../../../domain/job.ts';
import { type AttemptStages, attemptsOf, waitsOf } from '../../../domain/job-stages.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export function viewSpans({ timeline }: Pick<JobRecord, 'timeline'>): JobSpan[] {
  const waits = waitsOf(timeline).map(
    ({ from, to }): JobSpan => omitUndefined({ stage: 'wait' as const, from_ms: from, to_ms: to }),
  );
  return [...waits, ...attemptsOf(timeline).flatMap(spansOf)].sort((a, b) => a.from_ms - b.from_ms);
}

function spansOf(stages: AttemptStages): JobSpan[] {
  const { attempt, nodeId, startAt, reservedAt, sentAt, acknowledgedAt, end } = stages;
  const span = (stage: JobSpan['stage'], from: number, to: number | undefined): JobSpan =>
    omitUndefined({ stage, attempt_id: attempt, node_id: nodeId, from_ms: from, to_ms: to });
  const ended = end === undefined || end.state === 'FINISHED' ? undefined : (end.reason ?? end.state);
  const whole: JobSpan = omitUndefined({ ...span('attempt', startAt, end?.at), ended });
  if (sentAt === undefined) return [whole];
  return [
    whole,
    span('send', reservedAt ?? sentAt, sentAt),
    span('ack', sentAt, acknowledgedAt ?? end?.at),
    ...(acknowledgedAt === undefined ? [] : [span('run', acknowledgedAt, end?.at)]),
  ];
}
