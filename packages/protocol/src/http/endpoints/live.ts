/** Endpoints of the console: the live feed and what its pages read. */
import { HistoryQuery, HistoryReply, LiveQuery, LiveSnapshot } from '../live.ts';
import type { HttpEndpoint } from './endpoint.ts';

export const LIVE_ENDPOINTS: readonly HttpEndpoint[] = [
  {
    method: 'GET',
    path: '/api/v1/live',
    operationId: 'watchLive',
    tag: 'operators',
    roles: ['viewer'],
    summary:
      'Watch all instances: one event `snapshot`, then an event `delta` (see LiveDelta) once a second. A viewer that reads too slowly gets fewer events, and a new snapshot after those it missed',
    extension: true,
    query: LiveQuery,
    reply: LiveSnapshot,
    isStream: true,
    errors: ['RATE_LIMITED'],
    example: { query: { once: true } },
  },
  {
    method: 'GET',
    path: '/api/v1/history',
    operationId: 'readHistory',
    tag: 'operators',
    roles: ['viewer'],
    summary: 'Read the figures of the last hour, in spans of one or ten seconds',
    extension: true,
    query: HistoryQuery,
    reply: HistoryReply,
    errors: [],
    example: { query: { step: 1 } },
  },
];
