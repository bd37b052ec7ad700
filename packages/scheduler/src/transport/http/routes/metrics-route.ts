/** GET /metrics: measurements for Prometheus. They tell about tenants and nodes, so an operator's credential is needed. */
import type { Routes } from '../declare-route.ts';
import type { HttpServices } from '../http-services.ts';

const OPTIONS = {
  tag: 'health',
  entry: { role: 'operator' },
  endpoint: { summary: 'Measurements in Prometheus form' },
} as const;

export function addMetricsRoute(routes: Routes, metrics: NonNullable<HttpServices['metrics']>): void {
  routes.add('GET', '/metrics', OPTIONS, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.print()),
  );
}
