/** Operators' lists of nodes, jobs and sessions, one node, and their commands cordon, uncordon, drain and close. */
import type {
  JobsQuery,
  NodeOrder,
  NodePath,
  NodesQuery,
  SessionOrder,
  SessionPath,
  SessionsQuery,
} from '@lingua/protocol';
import type { SessionClosing } from '../../../cluster/operators/close-session.ts';
import { JOB_STATES } from '../../../domain/job.ts';
import { JOB_OUTCOMES } from '../../../domain/job-query.ts';
import { NODE_HEALTHS } from '../../../domain/node.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { createPageCursors, INVALID_CURSOR } from '../requests/page-cursor.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { summarizeJob } from '../views/job-view.ts';
import { listNodes } from '../views/list-nodes.ts';
import { describeNode } from '../views/node-detail.ts';
import { orderNode } from '../views/remote-nodes.ts';
import { viewSession } from '../views/session-view.ts';

const PAGE = 100;

export function addOperatorRoutes(routes: Routes, services: HttpServices): void {
  const { reader, sessions, ids, settings } = services;
  const cursors = createPageCursors(ids.digest);
  /** Positions in the memory of this process mean nothing to another one. */
  const thisProcess = ids.traceId();
  const storeScope = services.remoteNodes === undefined ? thisProcess : undefined;

  routes.add<{ Querystring: NodesQuery }>('GET', '/api/v1/nodes', {}, async ({ query }, reply) => {
    const { limit = PAGE, status } = query;
    if (status !== undefined && !isOneOf(NODE_HEALTHS, status)) {
      return replyError(reply, mustBeOneOf('status', NODE_HEALTHS));
    }
    const scope = ['nodes', status];
    const cursor = query.cursor === undefined ? undefined : cursors.read(scope, query.cursor);
    if (cursor === undefined && query.cursor !== undefined) return replyError(reply, INVALID_CURSOR);
    const page = await listNodes(services, { limit, cursor });
    const nodes = page.nodes.filter((node) => status === undefined || node.status === status);
    return omitUndefined({ nodes, next_cursor: cursors.print(scope, page.cursor) });
  });

  routes.add<{ Params: NodePath }>('GET', '/api/v1/nodes/:id', {}, async ({ params }, reply) => {
    const node = await describeNode(services, params.id);
    return node ?? replyError(reply, NO_SUCH_NODE);
  });

  routes.add<{ Querystring: JobsQuery }>('GET', '/api/v1/jobs', {}, async ({ query }, reply) => {
    const { limit = PAGE, state, outcome, reason } = query;
    if (state !== undefined && !isOneOf(JOB_STATES, state)) {
      return replyError(reply, mustBeOneOf('state', JOB_STATES));
    }
    if (outcome !== undefined && !isOneOf(JOB_OUTCOMES, outcome)) {
      return replyError(reply, mustBeOneOf('outcome', JOB_OUTCOMES));
    }
    if (reason !== undefined && outcome !== undefined && !WITH_REASON.has(outcome)) {
      return replyError(reply, NO_REASON);
    }
    const { tenant_id: tenantId, node_id: nodeId, session_id: sessionId } = query;
    const scope = ['jobs', storeScope, state, outcome, reason, tenantId, nodeId, sessionId];
    const cursor = query.cursor === undefined ? undefined : cursors.read(scope, query.cursor);
    if (cursor === undefined && query.cursor !== undefined) return replyError(reply, INVALID_CURSOR);
    const page = await reader.list(
      omitUndefined({ limit, cursor, state, outcome, reason, tenantId, nodeId, sessionId }),
    );
    return omitUndefined({
      jobs: page.jobs.map(summarizeJob),
      next_cursor: cursors.print(scope, page.cursor),
    });
  });

  routes.add<{ Querystring: SessionsQuery }>('GET', '/api/v1/sessions', {}, ({ query }, reply) => {
    const { limit = PAGE, tenant_id: tenantId } = query;
    const scope = ['sessions', thisProcess, tenantId];
    const cursor = query.cursor === undefined ? undefined : cursors.read(scope, query.cursor);
    if (cursor === undefined && query.cursor !== undefined) return replyError(reply, INVALID_CURSOR);
    const page = sessions.list(omitUndefined({ limit, cursor, tenantId }));
    return reply.send(
      omitUndefined({
        sessions: page.sessions.map(viewSession),
        instance_id: settings.instanceId,
        next_cursor: cursors.print(scope, page.cursor),
      }),
    );
  });

  routes.add<{ Params: SessionPath; Body: SessionOrder }>(
    'POST',
    '/api/v1/sessions/:id/close',
    {},
    async ({ params }, reply) => {
      const { closeSession } = services;
      const closing: SessionClosing =
        closeSession !== undefined
          ? await closeSession(params.id)
          : sessions.close(params.id)
            ? { kind: 'closing', instanceId: '' }
            : { kind: 'absent' };
      if (closing.kind === 'absent') return replyError(reply, NO_SUCH_SESSION);
      if (closing.kind === 'unknown') return replyError(reply, unreachable(closing.unreachable));
      return omitUndefined({
        ok: true as const,
        session_id: params.id,
        state: 'closing' as const,
        instance_id: closing.instanceId || undefined,
      });
    },
  );

  for (const order of ['cordon', 'uncordon', 'drain'] as const) {
    routes.add<{ Params: NodePath; Body: NodeOrder }>(
      'POST',
      `/api/v1/nodes/:id/${order}`,
      {},
      async ({ params, body }, reply) => {
        const node = await orderNode(services, params.id, order, body.reason);
        if (node === undefined) {
          return replyError(reply, NO_SUCH_NODE);
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

const isOneOf = <Word extends string>(words: readonly Word[], word: string): word is Word =>
  (words as readonly string[]).includes(word);

const WITH_REASON: ReadonlySet<string> = new Set(['waiting', 'failed', 'cancelled']);

const NO_REASON: Refusal = {
  code: 'INVALID_MESSAGE',
  detail: '"reason" is why a job failed, was cancelled or waits again; jobs of this outcome have none',
  field: '/reason',
  hint: 'Omit reason, or ask for outcome=failed, outcome=cancelled or outcome=waiting.',
};

const NO_SUCH_NODE: Refusal = { code: 'NOT_FOUND', detail: 'there is no such node', field: '/id' };

const NO_SUCH_SESSION: Refusal = {
  code: 'NOT_FOUND',
  detail: 'no instance has such a session',
  field: '/id',
  hint: 'It has ended, or its instance died and its client has not resumed it yet. GET /api/v1/sessions lists the sessions of an instance.',
};

const unreachable = (instanceIds: readonly string[]): Refusal => ({
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: `the session is not on the instances that answered; no answer from ${instanceIds.join(', ')}`,
  hint: 'Repeat the request; GET /api/v1/cluster shows the instances.',
});
