/**
 * GET /metrics and /api/v1/metrics: metrics for Prometheus and as JSON. They name tenants and nodes, so they require
 * a credential.
 */
import type { Routes } from '../server/declare-route.ts';
import type { HttpServices } from '../server/http-services.ts';
import { metricsView } from '../views/metrics-view.ts';

export function addMetricsRoute(routes: Routes, metrics: NonNullable<HttpServices['metrics']>): void {
  routes.add('GET', '/metrics', {}, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.print()),
  );
  const { measured } = metrics;
  if (measured === undefined) return;
  routes.add('GET', '/api/v1/metrics', {}, (_request, reply) =>
    reply.send(metricsView(measured.read(), measured.facts())),
  );
}
