/** GET /api/v1/live: the live feed as server-sent events. GET /api/v1/history: the figures of the last hour. */
import type { HistoryQuery, LiveQuery } from '@lingua/protocol';
import { inSteps } from '../../../management/stats/count-part.ts';
import { type History, STEPS, type StepSeconds } from '../../../management/stats/history.ts';
import type { FiguresPoint } from '../../../management/stats/summary.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import { callerOf, type Waits } from '../server/waits.ts';
import { viewPoint } from './figures-view.ts';
import type { LiveFeed } from './live-feed.ts';

export interface LiveServices {
  readonly feed: Pick<LiveFeed, 'open'>;
  readonly history: Pick<History, 'points'>;
}

export function addLiveRoutes(
  routes: Routes,
  services: { readonly clock: Clock; readonly settings: { readonly instanceId?: string } },
  { feed, history }: LiveServices,
  waits: Waits,
): void {
  const { clock, settings } = services;
  routes.add<{ Querystring: LiveQuery }>(
    'GET',
    '/api/v1/live',
    { hasQueryToken: true },
    ({ query, principal }, reply) => {
      const begun = waits.begin('stream', callerOf(principal), reply);
      if (begun.kind === 'refused') return replyError(reply, begun.refusal);
      const { wait } = begun;
      const events = feed.open(wait.signal, query.once === true);
      events.once('close', wait.end);
      // The client has left, so no reader would end the stream.
      if (reply.raw.destroyed) events.destroy();
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(events);
    },
  );

  routes.add<{ Querystring: HistoryQuery }>('GET', '/api/v1/history', {}, async ({ query }, reply) => {
    const { step = 10, since_ms: since } = query;
    if (!isStep(step)) return replyError(reply, WRONG_STEP);
    const points = await inSteps(printPoints(history.points(step, since)), clock);
    const heading = JSON.stringify({ instance_id: settings.instanceId ?? '', step_ms: step * 1_000 });
    return reply
      .type('application/json; charset=utf-8')
      .send(Buffer.from(`${heading.slice(0, -1)},"points":[${points}]}`));
  });
}

const POINTS_PER_SLICE = 200;

/** An hour of seconds takes longer than one slice of cold work may (I6). */
function* printPoints(points: readonly FiguresPoint[]): Generator<void, string> {
  const texts: string[] = [];
  for (const [at, point] of points.entries()) {
    if (at > 0 && at % POINTS_PER_SLICE === 0) yield;
    texts.push(JSON.stringify(viewPoint(point)));
  }
  return texts.join(',');
}

const isStep = (step: number): step is StepSeconds => (STEPS as readonly number[]).includes(step);

const WRONG_STEP: Refusal = {
  code: 'INVALID_MESSAGE',
  detail: `"step" must be one of ${STEPS.join(', ')}`,
  field: '/step',
};
