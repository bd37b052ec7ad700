/**
 * Lists all nodes by page: first those this instance holds, in order of registration, then those of other instances
 * by id.
 */
import type { NodeView } from '@lingua/protocol';
import type { HttpServices } from '../server/http-services.ts';
import { viewNode, viewNodeRecord } from './node-view.ts';

type Services = Pick<HttpServices, 'registry' | 'remoteNodes' | 'usedSlots'>;

interface NodesPage {
  readonly nodes: readonly NodeView[];
  readonly cursor: string | undefined;
}

/** Prefix of a cursor into other instances' nodes; it cannot occur in a node id. */
const REMOTE_CURSOR = '@';

export function listNodes(
  { registry, remoteNodes, usedSlots }: Services,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): NodesPage {
  function remotePage(after: string | undefined, pageLimit: number): NodesPage {
    const records = remoteNodes?.page(after, pageLimit) ?? [];
    const last = records.length === pageLimit ? records.at(-1) : undefined;
    return {
      nodes: records.map((record) => viewNodeRecord(record, usedSlots?.(record.nodeId))),
      cursor: last && REMOTE_CURSOR + last.nodeId,
    };
  }

  if (cursor?.startsWith(REMOTE_CURSOR) === true)
    return remotePage(cursor.slice(REMOTE_CURSOR.length) || undefined, limit);
  const own = registry.list(cursor === undefined ? { limit } : { limit, cursor });
  const nodes = own.nodes.map((node) => viewNode(node, usedSlots?.(node.view.nodeId)));
  if (own.cursor !== undefined) return { nodes, cursor: own.cursor };
  if (nodes.length === limit) return { nodes, cursor: remoteNodes && REMOTE_CURSOR };
  const rest = remotePage(undefined, limit - nodes.length);
  return { nodes: [...nodes, ...rest.nodes], cursor: rest.cursor };
}
