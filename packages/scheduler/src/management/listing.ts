/** Cold path: nodes for operators, one page at a time, in the order of their first registration. */
import type { Fleet, RegistryDeps } from './fleet.ts';
import type { CountedNode, NodeRegistry, NodeStatus } from './node-registry.ts';
import { isConnected, type RegisteredNode, statusOf } from './registered-node.ts';

const MAX_PAGE = 1_000;

export function createListing(
  { settings }: RegistryDeps,
  fleet: Fleet,
): Pick<NodeRegistry, 'get' | 'list' | 'census'> {
  return {
    *census(): Generator<CountedNode> {
      for (const node of fleet.nodes.values()) if (isOnline(node)) yield node;
    },

    get(nodeId) {
      const node = fleet.nodes.get(nodeId);
      return node === undefined ? undefined : statusOf(node, settings);
    },

    list({ limit, cursor }) {
      const after = cursor === undefined ? 0 : Number(cursor);
      const size = Math.min(MAX_PAGE, Math.max(1, limit));
      const nodes: NodeStatus[] = [];
      let last: RegisteredNode | undefined;
      for (const node of fleet.nodes.values()) {
        if (!(node.sequence > after)) continue;
        if (nodes.length === size) return { nodes, cursor: String(last?.sequence) };
        nodes.push(statusOf(node, settings));
        last = node;
      }
      return { nodes };
    },
  };
}

const isOnline = (node: RegisteredNode): boolean => node.health.health !== 'offline' && isConnected(node);
