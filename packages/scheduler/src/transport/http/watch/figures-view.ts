/** Prints the figures of a span and the known instances. Pure. */
import type { LiveInstance, FiguresPoint as PointView } from '@lingua/protocol';
import type { KnownInstance } from '../../../management/stats/history.ts';
import type { FiguresPoint } from '../../../management/stats/summary.ts';

export const viewPoint = ({
  at,
  spanMs,
  instances,
  counts,
  refused,
  levels,
  stages,
}: FiguresPoint): PointView => ({
  at_ms: at,
  span_ms: spanMs,
  instances,
  ...counts,
  refused,
  in_flight: levels.inFlight,
  waiting: levels.waiting,
  oldest_wait_ms: levels.oldestWaitMs,
  sessions: levels.sessions,
  connected: levels.connected,
  stages: Object.fromEntries(
    Object.entries(stages).map(([stage, { count, p50Ms, p99Ms }]) => [
      stage,
      { count, p50_ms: p50Ms, p99_ms: p99Ms },
    ]),
  ),
});

export const viewInstance = ({ instanceId, levels, at }: KnownInstance, now: number): LiveInstance => ({
  instance_id: instanceId,
  age_ms: Math.max(0, now - at),
  in_flight: levels.inFlight,
  waiting: levels.waiting,
  sessions: levels.sessions,
});
