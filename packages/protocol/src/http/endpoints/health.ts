/** Endpoints of load balancers and Prometheus, and the check of a token. */
import { CheckQuery, CheckReply } from '../check.ts';
import { HealthReply } from '../health.ts';
import { TokenMint, TokenMintReply, WhoamiReply } from '../tokens.ts';
import type { HttpEndpoint } from './endpoint.ts';

const health = (path: string, operationId: string, summary: string): HttpEndpoint => ({
  method: 'GET',
  path,
  operationId,
  tag: 'health',
  roles: 'none',
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
    path: '/v1/check',
    operationId: 'checkToken',
    tag: 'health',
    roles: 'none',
    summary: 'May this token open that socket? Readable by pages of every origin',
    extension: true,
    query: CheckQuery,
    reply: CheckReply,
    errors: ['RATE_LIMITED'],
    example: { query: { role: 'session' } },
  },
  {
    method: 'GET',
    path: '/v1/whoami',
    operationId: 'readOwnRole',
    tag: 'health',
    // The caller acts in the first one that it has.
    roles: ['admin', 'operator', 'viewer', 'client', 'node'],
    summary: 'Read the role and the tenant of the own token',
    extension: true,
    reply: WhoamiReply,
    errors: [],
  },
  {
    method: 'POST',
    path: '/v1/tokens',
    operationId: 'mintToken',
    tag: 'health',
    roles: ['admin', 'client'],
    summary:
      'Mint a short-lived token for a user: clients with may_mint for their tenant, admins for every tenant and for viewers and operators',
    extension: true,
    body: TokenMint,
    reply: TokenMintReply,
    errors: ['UNSUPPORTED_FEATURE'],
    example: { body: { user_id: 'ann', tenant_id: 'acme', languages: ['en', 'zh'] } },
  },
  {
    method: 'GET',
    path: '/metrics',
    operationId: 'printMetrics',
    tag: 'health',
    roles: ['metrics'],
    summary: 'Metrics in Prometheus format',
    extension: false,
    mediaType: 'text/plain',
    errors: [],
  },
];
