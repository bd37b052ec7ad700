/** Operators' lists of nodes, jobs and sessions, and their commands cordon, uncordon and drain. */
import type { JobsQuery, NodeOrder, NodePath, NodesQuery, SessionsQuery } from '@lingua/protocol';
import { JOB_STATES, type JobRecord, type JobState } from '../../../domain/job.ts';
import { NODE_HEALTHS } from '../../../domain/node.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { summarizeJob } from '../views/job-view.ts';
import { listNodes } from '../views/list-nodes.ts';
import { orderNode } from '../views/remote-nodes.ts';
import { viewSession } from '../views/session-view.ts';

const PAGE = 100;

export function addOperatorRoutes(routes: Routes, services: HttpServices): void {
  const { reader, sessions } = services;

  routes.add<{ Querystring: NodesQuery }>('GET', '/api/v1/nodes', {}, ({ query }, reply) => {
    const { limit = PAGE, cursor, status } = query;
    if (status !== undefined && !(NODE_HEALTHS as readonly string[]).includes(status)) {
      return replyError(reply, mustBeOneOf('status', NODE_HEALTHS));
    }
    const page = listNodes(services, { limit, cursor });
    const nodes = page.nodes.filter((node) => status === undefined || node.status === status);
    return reply.send(omitUndefined({ nodes, next_cursor: page.cursor }));
  });

  routes.add<{ Querystring: JobsQuery }>('GET', '/api/v1/jobs', {}, async ({ query }, reply) => {
    const { limit = PAGE, cursor, state, tenant_id: tenantId } = query;
    if (state !== undefined && !isJobState(state)) {
      return replyError(reply, mustBeOneOf('state', JOB_STATES));
    }
    const page = await reader.list(omitUndefined({ limit, cursor, state, tenantId }));
    const jobs = page.jobs.filter((job) => isWanted(job, query)).map(summarizeJob);
    return omitUndefined({ jobs, next_cursor: page.cursor });
  });

  routes.add<{ Querystring: SessionsQuery }>('GET', '/api/v1/sessions', {}, ({ query }, reply) => {
    const { limit = PAGE, cursor, tenant_id: tenantId } = query;
    const page = sessions.list(omitUndefined({ limit, cursor, tenantId }));
    return reply.send(omitUndefined({ sessions: page.sessions.map(viewSession), next_cursor: page.cursor }));
  });

  for (const order of ['cordon', 'uncordon', 'drain'] as const) {
    routes.add<{ Params: NodePath; Body: NodeOrder }>(
      'POST',
      `/api/v1/nodes/:id/${order}`,
      {},
      async ({ params }, reply) => {
        const node = await orderNode(services, params.id, order);
        if (node === undefined) {
          return replyError(reply, { code: 'NOT_FOUND', detail: 'there is no such node', field: '/id' });
        }
        return {
          ok: true,
          node_id: params.id,
          status: node.health,
          cordoned: node.isCordoned,
          running_jobs: node.runningJobs,
        };
      },
    );
  }
}

const mustBeOneOf = (name: string, words: readonly string[]): Refusal => ({
  code: 'INVALID_MESSAGE',
  detail: `"${name}" must be one of ${words.join(', ')}`,
  field: `/${name}`,
});

const isJobState = (state: string): state is JobState => (JOB_STATES as readonly string[]).includes(state);

/**
 * The store filters by tenant and state only. A page that is filtered further may be short; its cursor still leads to
 * the next page.
 */
const isWanted = (job: JobRecord, { node_id: nodeId, session_id: sessionId }: JobsQuery): boolean =>
  (nodeId === undefined || (job.fence ?? job.intent)?.nodeId === nodeId) &&
  (sessionId === undefined || job.sessionId === sessionId);
