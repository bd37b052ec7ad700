/** Hot path: the first record of a job. With a first candidate it is RESERVED from the start. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Engine } from '../engine.ts';
import { measureAudio } from '../usage/measure-job.ts';

export function draftJob(
  engine: Pick<Engine, 'settings'>,
  request: DispatchRequest,
  jobId: JobId,
  firstNodeId: NodeId | undefined,
  at: number,
): JobRecord {
  const created = { state: 'CREATED', at, attempt: 0 } as const;
  return {
    jobId,
    tenantId: request.tenantId,
    sessionId: request.sessionId,
    requestId: request.requestId,
    fingerprint: request.fingerprint,
    spec: request.spec,
    need: request.need,
    state: firstNodeId === undefined ? 'CREATED' : 'RESERVED',
    fence: undefined,
    intent: firstNodeId === undefined ? undefined : { nodeId: firstNodeId, attempt: 1 },
    audioMs: request.audio === undefined ? undefined : measureAudio(request.spec, request.audio),
    createdAt: at,
    deadlineAt: deadlineOf(request, at + engine.settings.jobDeadlineMs),
    timeline:
      firstNodeId === undefined
        ? [created]
        : [created, { state: 'RESERVED', at, attempt: 1, nodeId: firstNodeId }],
    failure: undefined,
    result: undefined,
    usage: undefined,
  };
}

const deadlineOf = ({ deadlineAt }: DispatchRequest, latest: number): number =>
  deadlineAt === undefined || deadlineAt > latest ? latest : deadlineAt;
