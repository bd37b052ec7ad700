/** Lists the nodes of all instances by id, a page at a time; each as the instance that holds it sees it. */
import type { NodeView } from '@lingua/protocol';
import type { NodeId } from '../../../domain/ids.ts';
import type { HttpServices } from '../server/http-services.ts';
import { viewNode, viewNodeRecord } from './node-view.ts';

export type NodeServices = Pick<
  HttpServices,
  'registry' | 'remoteNodes' | 'usedSlots' | 'clock' | 'settings'
>;

export interface NodesPage {
  readonly nodes: readonly NodeView[];
  /** The id of the last node, if there are more. */
  readonly cursor: NodeId | undefined;
}

export async function listNodes(
  { registry, remoteNodes, usedSlots, clock, settings }: NodeServices,
  { limit, cursor }: { readonly limit: number; readonly cursor?: NodeId | undefined },
): Promise<NodesPage> {
  const own = registry.list(cursor === undefined ? { limit } : { limit, cursor });
  const others = remoteNodes?.page(cursor, limit) ?? [];
  const ownIds = own.nodes.map(({ view }) => view.nodeId);
  // While a node moves between instances, both may know it; the newer holder is the other one.
  const ids = [...new Set([...ownIds, ...others.map(({ nodeId }) => nodeId)])].sort().slice(0, limit);
  const records = new Map(others.map((record) => [record.nodeId, record]));
  const views = await remoteNodes?.views(ids.filter((nodeId) => records.has(nodeId)));
  const here = new Map(own.nodes.map((status) => [status.view.nodeId, status]));
  const nodes = ids.flatMap((nodeId): NodeView | readonly never[] => {
    const record = records.get(nodeId);
    if (record !== undefined) return views?.get(nodeId) ?? viewNodeRecord(record, usedSlots?.(nodeId));
    const status = here.get(nodeId);
    const facts = { now: clock.now(), usedSlots: usedSlots?.(nodeId), instanceId: settings.instanceId };
    return status === undefined ? [] : viewNode(status, facts);
  });
  const last = ids.at(-1);
  const isWhole =
    own.cursor === undefined && others.length < limit && ids.length === ownIds.length + others.length;
  return { nodes, cursor: isWhole ? undefined : last };
}
