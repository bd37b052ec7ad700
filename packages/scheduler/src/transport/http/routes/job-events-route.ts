/** GET /v1/job/:id/events: every move of a job as server-sent events, until it is settled. */
import type { JobPath } from '@lingua/protocol';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { callerOf, NO_LISTENER, type Waits } from '../server/waits.ts';
import { LAST_EVENT_ID, openJobEvents } from '../views/job-events.ts';
import { isClient, NO_SUCH_JOB, readJob } from '../views/read-job.ts';

export function addJobEventsRoute(routes: Routes, services: HttpServices, waits: Waits): void {
  routes.add<{ Params: JobPath }>(
    'GET',
    '/v1/job/:id/events',
    { hasQueryToken: true },
    async ({ params, headers, principal }, reply) => {
      const job = await readJob(services, principal, params.id);
      if (job === undefined) return replyError(reply, NO_SUCH_JOB);
      // A browser's EventSource reconnects when a stream ends; only 204 stops it.
      if (headers['last-event-id'] === LAST_EVENT_ID) return reply.code(204).send();
      const begun = waits.begin('stream', callerOf(principal), reply);
      if (begun.kind === 'refused') return replyError(reply, begun.refusal);
      const { wait } = begun;
      const events = await openJobEvents(services, job, wait.signal);
      if (events === undefined) {
        wait.end();
        return replyError(reply, NO_LISTENER);
      }
      events.once('close', wait.end);
      // A stream that is sent to its end has the outcome; a job without one is not erased.
      if (isClient(principal))
        reply.raw.once('finish', () => wait.signal.aborted || services.eraseDelivered?.(params.id));
      // The client has left, so no reader would end the stream.
      if (reply.raw.destroyed) events.destroy();
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no')
        .send(events);
    },
  );
}
