/** Cold path: nodes for operators, one page at a time, by id. */
import type { Fleet, RegistryDeps } from './fleet.ts';
import type { CountedNode, NodeRegistry } from './node-registry.ts';
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
      const size = Math.min(MAX_PAGE, Math.max(1, limit));
      const later = [...fleet.nodes.values()].filter(({ nodeId }) => cursor === undefined || nodeId > cursor);
      later.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
      const page = later.slice(0, size);
      const nodes = page.map((node) => statusOf(node, settings));
      const last = page.at(-1)?.nodeId;
      return last === undefined || later.length === page.length ? { nodes } : { nodes, cursor: last };
    },
  };
}

const isOnline = (node: RegisteredNode): boolean => node.health.health !== 'offline' && isConnected(node);
