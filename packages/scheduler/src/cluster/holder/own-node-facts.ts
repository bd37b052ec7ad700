/** Hot path: what the holder of a node knows about it when it hands a job over or forwards a report. */
import type { NodeId } from '../../domain/ids.ts';
import type { NodeView } from '../../domain/node.ts';

export interface OwnNodeFacts {
  /** The generation of the node's connection. Undefined: the node is not at this instance. */
  generationOf(nodeId: NodeId): number | undefined;
  /** The node sends acknowledgements of its own. */
  acknowledges(nodeId: NodeId): boolean;
}

export function createOwnNodeFacts(
  registry: () => {
    get(nodeId: NodeId): { readonly generation: number; readonly view: NodeView } | undefined;
  },
): OwnNodeFacts {
  return {
    generationOf: (nodeId) => registry().get(nodeId)?.generation,
    acknowledges: (nodeId) => registry().get(nodeId)?.view.profile.supports.includes('job_ack') === true,
  };
}
