/** The HTTP API as a table, from which routes, documentation, OpenAPI and generated clients are built. */
import type { HttpEndpoint } from './endpoints/endpoint.ts';
import { GLOSSARY_ENDPOINTS } from './endpoints/glossaries.ts';
import { HEALTH_ENDPOINTS } from './endpoints/health.ts';
import { JOB_ENDPOINTS } from './endpoints/jobs.ts';
import { LIVE_ENDPOINTS } from './endpoints/live.ts';
import { NODE_ENDPOINTS } from './endpoints/nodes.ts';
import { OPERATOR_ENDPOINTS } from './endpoints/operators.ts';
import { ROOM_ENDPOINTS } from './endpoints/rooms.ts';

export { HTTP_TAGS, type HttpEndpoint } from './endpoints/endpoint.ts';

export const HTTP_ENDPOINTS: readonly HttpEndpoint[] = [
  ...NODE_ENDPOINTS,
  ...JOB_ENDPOINTS,
  ...GLOSSARY_ENDPOINTS,
  ...ROOM_ENDPOINTS,
  ...OPERATOR_ENDPOINTS,
  ...LIVE_ENDPOINTS,
  ...HEALTH_ENDPOINTS,
];
