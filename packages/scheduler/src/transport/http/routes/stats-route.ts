/**
 * GET /api/v1/stats: the last snapshot, without waiting. It shows nodes and sessions of all tenants, so it requires
 * an operator's credential.
 */
import type { Routes } from '../server/declare-route.ts';
import type { HttpServices } from '../server/http-services.ts';
import { completeStats } from '../views/print-stats.ts';

const NOT_READY = { status: 'stats_not_ready' };

export function addStatsRoute(
  routes: Routes,
  { clock, meter }: Pick<HttpServices, 'clock' | 'meter'>,
  { read }: NonNullable<HttpServices['stats']>,
): void {
  routes.add('GET', '/api/v1/stats', {}, (_request, reply) => {
    const begunAt = clock.precise();
    reply.raw.once('close', () =>
      meter.observe('scheduler_stats_request_duration_seconds', (clock.precise() - begunAt) / 1_000),
    );
    const reading = read();
    if (reading.kind === 'not_ready') {
      void reply
        .code(503)
        .header('retry-after', String(Math.ceil(reading.retryAfterMs / 1_000)))
        .send(NOT_READY);
    } else {
      void reply.header('content-type', 'application/json; charset=utf-8').send(completeStats(reading));
    }
    return reply;
  });
}
