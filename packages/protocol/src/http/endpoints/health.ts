/** Endpoints of load balancers and Prometheus. */
import { HealthReply } from '../health.ts';
import type { HttpEndpoint } from './endpoint.ts';

const health = (path: string, operationId: string, summary: string): HttpEndpoint => ({
  method: 'GET',
  path,
  operationId,
  tag: 'health',
  role: 'none',
  summary,
  extension: false,
  reply: HealthReply,
  errors: [],
});

const NOT_READY = {
  503: { description: 'The instance is not ready; `reasons` says why', reply: HealthReply },
};

export const HEALTH_ENDPOINTS: readonly HttpEndpoint[] = [
  health('/health/live', 'readLiveness', 'The process is running'),
  { ...health('/health/ready', 'readReadiness', 'The instance is ready for work'), otherReplies: NOT_READY },
  { ...health('/health', 'readHealth', 'Same as /health/ready'), otherReplies: NOT_READY },
  {
    method: 'GET',
    path: '/metrics',
    operationId: 'printMetrics',
    tag: 'health',
    role: 'operator',
    summary: 'Metrics in Prometheus format',
    extension: false,
    mediaType: 'text/plain',
    errors: [],
  },
];
