/**
 * Operators' view of all instances, and their commands for dead letters: messages between instances that could not be
 * handled.
 */
import type {
  DeadLetterPath,
  DeadLetterQuery,
  DeadLetterReplay,
  DeadLettersPurge,
  DeadLettersQuery,
} from '@lingua/protocol';
import {
  type MessageName,
  printMessageName,
  readMessageName,
} from '../../../cluster/messaging/message-name.ts';
import type { NodeId } from '../../../domain/ids.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { createPageCursors, INVALID_CURSOR } from '../requests/page-cursor.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { viewClusterNode, viewTotals } from '../views/cluster-page-view.ts';
import { viewCluster } from '../views/cluster-view.ts';
import { summarizeDeadLetter, viewDeadLetter } from '../views/dead-letter-view.ts';
import { listNodes, type NodeServices } from '../views/list-nodes.ts';

const PAGE = 100;

export function addClusterRoutes(
  routes: Routes,
  services: NodeServices & Pick<HttpServices, 'clock' | 'ids' | 'nodeCounts'>,
  { reader, deadLetters }: NonNullable<HttpServices['cluster']>,
): void {
  const { clock, ids, registry, remoteNodes } = services;
  const cursors = createPageCursors(ids.digest);
  const profileOf = (nodeId: NodeId) => (remoteNodes?.find(nodeId) ?? registry.get(nodeId))?.view.profile;

  routes.add('GET', '/api/v1/cluster', {}, async () => {
    const [view, { nodes }] = await Promise.all([reader.read(), listNodes(services, { limit: PAGE })]);
    const counts = services.nodeCounts?.() ?? { all: 0, online: 0, ready: 0 };
    return viewCluster(view, {
      ...viewTotals(view, counts),
      nodes: nodes.map((node) => viewClusterNode(node, profileOf(node.node_id))),
    });
  });

  routes.add<{ Querystring: DeadLettersQuery }>(
    'GET',
    '/api/v1/dead-letters',
    {},
    async ({ query }, reply) => {
      const { limit = PAGE, instance_id: instanceId } = query;
      const scope = ['dead-letters', instanceId];
      const position = query.cursor === undefined ? undefined : cursors.read(scope, query.cursor);
      if (query.cursor !== undefined && position === undefined) return replyError(reply, INVALID_CURSOR);
      const cursor = position === undefined ? undefined : readMessageName(position);
      const page = await deadLetters.list({ limit, instanceId, cursor });
      const now = clock.now();
      return omitUndefined({
        letters: page.letters.map((letter) => summarizeDeadLetter(letter, now)),
        unreachable: page.unreachable,
        next_cursor: cursors.print(scope, page.cursor && printMessageName(page.cursor)),
      });
    },
  );

  routes.add<{ Params: DeadLetterPath; Querystring: DeadLetterQuery }>(
    'GET',
    '/api/v1/dead-letters/:id',
    {},
    async ({ params, query }, reply) => {
      const name = nameIn(params);
      const letter = await deadLetters.get(name);
      if (letter === undefined) return replyError(reply, NO_SUCH_LETTER);
      return viewDeadLetter({ ...letter, ...name }, clock.now(), { isRaw: query.raw === true });
    },
  );

  routes.add<{ Params: DeadLetterPath; Body: DeadLetterReplay }>(
    'POST',
    '/api/v1/dead-letters/:id/replay',
    {},
    async ({ params }, reply) => {
      const result = await deadLetters.replay(nameIn(params));
      if (result.kind === 'absent') return replyError(reply, NO_SUCH_LETTER);
      if (result.kind === 'full') return replyError(reply, inboxFull(result.to));
      return { ok: true, id: params.id, to: result.to };
    },
  );

  routes.add<{ Querystring: DeadLettersPurge }>(
    'DELETE',
    '/api/v1/dead-letters',
    {},
    async ({ query }, reply) => {
      const { instance_id: instanceId, older_than_ms: olderThanMs, all = false } = query;
      const isNarrowed = instanceId !== undefined || olderThanMs !== undefined;
      if (isNarrowed === all) return replyError(reply, all ? CONTRADICTION : NO_SCOPE);
      const { purged, isDone, unreachable } = await deadLetters.purge({ instanceId, olderThanMs });
      return { ok: true, purged, done: isDone, unreachable };
    },
  );
}

/** The path was validated, so it is a name. */
const nameIn = ({ id }: DeadLetterPath): MessageName =>
  readMessageName(id) ?? { instanceId: id, messageId: '' };

const NO_SUCH_LETTER: Refusal = {
  code: 'NOT_FOUND',
  detail: 'there is no such dead letter',
  field: '/id',
  hint: 'It was replayed or purged, or removed for later ones; GET /api/v1/dead-letters lists the present ones.',
};

const NO_SCOPE: Refusal = {
  code: 'INVALID_MESSAGE',
  detail: 'the request does not say which dead letters to remove',
  field: '/all',
  hint: 'Give instance_id, older_than_ms or both; or all=true for every dead letter.',
};

const CONTRADICTION: Refusal = {
  code: 'INVALID_MESSAGE',
  detail: '"all" does not go with "instance_id" or "older_than_ms"',
  field: '/all',
  hint: 'Leave out all, or the others.',
};

const inboxFull = (instanceId: string): Refusal => ({
  code: 'RATE_LIMITED',
  detail: `the inbox of ${instanceId} is full`,
  hint: 'The message is still a dead letter; try again when that instance has caught up.',
});
