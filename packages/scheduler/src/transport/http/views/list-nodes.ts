/** All nodes, a page at a time: first those this instance holds, in the order they came, then those of the others by their ids. */
import type { NodeView } from '@lingua/protocol';
import type { HttpServices } from '../server/http-services.ts';
import { viewNode, viewNodeRecord } from './node-view.ts';

type Services = Pick<HttpServices, 'registry' | 'elsewhere' | 'usedSlots'>;

interface NodesPage {
  readonly nodes: readonly NodeView[];
  readonly cursor: string | undefined;
}

/** Begins the cursor of a page of others' nodes; ids of nodes have none of it. */
const OTHERS = '@';

export function listNodes(
  { registry, elsewhere, usedSlots }: Services,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): NodesPage {
  function others(after: string | undefined, most: number): NodesPage {
    const records = elsewhere?.page(after, most) ?? [];
    const last = records.length === most ? records.at(-1) : undefined;
    return {
      nodes: records.map((record) => viewNodeRecord(record, usedSlots?.(record.nodeId))),
      cursor: last && OTHERS + last.nodeId,
    };
  }

  if (cursor?.startsWith(OTHERS) === true) return others(cursor.slice(OTHERS.length) || undefined, limit);
  const own = registry.list(cursor === undefined ? { limit } : { limit, cursor });
  const nodes = own.nodes.map((node) => viewNode(node, usedSlots?.(node.view.nodeId)));
  if (own.cursor !== undefined) return { nodes, cursor: own.cursor };
  if (nodes.length === limit) return { nodes, cursor: elsewhere && OTHERS };
  const rest = others(undefined, limit - nodes.length);
  return { nodes: [...nodes, ...rest.nodes], cursor: rest.cursor };
}
