/** HTTP nodes: register, heartbeat, fetch jobs, deregister. */
import type {
  FetchQuery,
  HttpNodeHeartbeat,
  HttpNodeRegister,
  JobAssign,
  JobCancel,
  NodePath,
} from '@lingua/protocol';
import { heartbeatMailbox } from '../../link/node-link.ts';
import { readHeartbeat, readRegistration } from '../requests/http-registration.ts';
import { mayActForNode } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import type { Waits } from '../server/waits.ts';
import { DELIVERIES } from '../views/node-view.ts';
import { orderNode } from '../views/remote-nodes.ts';

const DEFAULT_JOBS = 16;
/** Ten thousand language pairs need a quarter of it; parsing more would block this thread. */
const MAX_REGISTRATION_BYTES = 1024 * 1024;

export function addNodeRoutes(routes: Routes, services: HttpServices, waits: Waits): void {
  const { registry, remoteNodes, gate, endpoints, mailbox, settings } = services;
  const bodyLimit = Math.min(settings.maxNodeBodyBytes, MAX_REGISTRATION_BYTES);

  routes.add<{ Body: HttpNodeRegister }>(
    'POST',
    '/v1/node/register',
    { isIntake: true, bodyLimit },
    async ({ body, principal }, reply) => {
      if (!gate.mayUseNode(principal, body.node_id)) return replyError(reply, NOT_THIS_NODE);
      if (body.endpoint !== undefined && !endpoints.permits(body.endpoint)) {
        return replyError(reply, NOT_THIS_ENDPOINT);
      }
      const registration = readRegistration(body, principal);
      const outcome = await registry.register(registration);
      if (outcome.kind === 'refused') {
        return replyError(reply, { code: outcome.code, detail: outcome.message });
      }
      // A reload may have revoked the token since the headers of this request arrived.
      const { binding } = registration.traits;
      if (!gate.mayKeepNode({ nodeId: outcome.nodeId, credential: principal.credential, binding })) {
        await registry.control(outcome.nodeId, 'remove');
        return replyError(reply, REVOKED);
      }
      return {
        ok: true,
        node_id: outcome.nodeId,
        status: outcome.health,
        heartbeat_interval_ms: outcome.heartbeatIntervalMs,
        generation: outcome.generation,
        // A node with an open socket still gets its jobs over the socket.
        delivery: DELIVERIES[registry.get(outcome.nodeId)?.channel ?? registration.channel],
      };
    },
  );

  routes.add<{ Body: HttpNodeHeartbeat }>(
    'POST',
    '/v1/node/heartbeat',
    { bodyLimit },
    async ({ body, principal }, reply) => {
      if (!mayActForNode(services, principal, body.node_id)) return replyError(reply, NOT_THIS_NODE);
      const known = registry.get(body.node_id);
      const outcome =
        remoteNodes?.find(body.node_id) === undefined
          ? await registry.heartbeat(readHeartbeat(body, known))
          : await remoteNodes.beat(body);
      if (outcome.kind !== 'beat') return replyError(reply, REGISTER_AGAIN);
      // If the store does not answer, the notices wait for the next heartbeat.
      const mail = await mailbox.take(heartbeatMailbox(body.node_id), NOTICES).catch(() => []);
      return { ok: true, status: outcome.health, ...viewNotices(mail) };
    },
  );

  routes.add<{ Params: NodePath }>('DELETE', '/v1/node/:id', {}, async ({ params, principal }, reply) => {
    if (!mayActForNode(services, principal, params.id)) {
      return replyError(reply, { ...NOT_THIS_NODE, field: '/id' });
    }
    const known = remoteNodes?.find(params.id) ?? registry.get(params.id);
    if (known?.channel === 'socket') return replyError(reply, HAS_SOCKET);
    const node = known && (await orderNode(services, params.id, 'remove'));
    if (node === undefined) return replyError(reply, NOT_REGISTERED);
    return { ok: true, node_id: params.id, status: node.health };
  });

  routes.add<{ Params: NodePath; Querystring: FetchQuery }>(
    'GET',
    '/v1/node/:id/jobs',
    {},
    async ({ params, query, principal }, reply) => {
      if (!mayActForNode(services, principal, params.id)) {
        return replyError(reply, { ...NOT_THIS_NODE, field: '/id' });
      }
      // Only registered nodes have a mailbox, so that invented names create none.
      if (registry.get(params.id) === undefined && remoteNodes?.find(params.id) === undefined)
        return replyError(reply, { ...REGISTER_AGAIN, field: '/id' });
      const max = query.max ?? DEFAULT_JOBS;
      const waitMs = query.wait_ms ?? 0;
      if (waitMs === 0)
        return viewMail(await mailbox.take(params.id, { max, waitMs, signal: NEVER_ABORTED }));
      const begun = waits.begin('poll', { id: params.id, principal }, reply);
      if (begun.kind === 'refused') return replyError(reply, begun.refusal);
      const { wait } = begun;
      try {
        const mail = await mailbox.take(params.id, { max, waitMs, signal: wait.signal });
        const lost = wait.refusal();
        return lost === undefined ? viewMail(mail) : replyError(reply, lost);
      } finally {
        wait.end();
      }
    },
  );
}

const NEVER_ABORTED = new AbortController().signal;

const NOTICES = { max: 1_000, waitMs: 0 };

type Mail = readonly { readonly body: JobAssign | JobCancel }[];

const viewMail = (mail: Mail) => ({
  jobs: mail.flatMap(({ body }) => (body.type === 'job_cancel' ? [] : [body])),
  ...viewNotices(mail),
});

function viewNotices(mail: Mail): { cancelled?: string[] } {
  const cancelled = mail.flatMap(({ body }) => (body.type === 'job_cancel' ? [body.job_id] : []));
  return cancelled.length === 0 ? {} : { cancelled };
}

const NOT_THIS_NODE = {
  code: 'FORBIDDEN',
  detail: 'this credential may not act for that node',
  field: '/node_id',
} as const;

const REVOKED = {
  code: 'UNAUTHORIZED',
  detail: 'the token was revoked, or lost rights, during this request',
} as const;

const NOT_THIS_ENDPOINT = {
  code: 'FORBIDDEN',
  detail: '"endpoint" is not in a network of server.endpoint_networks',
  hint: 'Add its network to server.endpoint_networks, or omit endpoint and fetch the jobs.',
  field: '/endpoint',
} as const;

const HAS_SOCKET = {
  code: 'INVALID_MESSAGE',
  detail: 'this node is connected by a socket',
  hint: 'Close its socket on /ws/node: that deregisters it.',
  field: '/id',
} as const;

const NOT_REGISTERED = {
  code: 'NOT_FOUND',
  detail: 'this node is not registered here',
  hint: 'GET /api/v1/nodes lists the registered nodes.',
  field: '/id',
} as const;

const REGISTER_AGAIN = {
  code: 'NOT_FOUND',
  detail: 'this node is not registered here',
  hint: 'POST /v1/node/register again, then continue.',
  field: '/node_id',
} as const;
