/** Cold path: claims of node ids as one of many instances uses them. An instance remembers the claims of nodes it knows, also after the store was emptied. */
import type { NodeId } from '../../domain/ids.ts';
import type { NodeIdClaims } from '../../ports/node-id-claims.ts';

export function guardNodeIdClaims(deps: {
  nodeIdClaims: NodeIdClaims;
  /** The credential of a node that this instance or its replica knows. */
  credentialOf: (nodeId: NodeId) => string | undefined;
}): NodeIdClaims {
  const { nodeIdClaims, credentialOf } = deps;
  return {
    ...nodeIdClaims,
    async claim(nodeId, credential) {
      const known = credentialOf(nodeId);
      if (known !== undefined && known !== credential) return { kind: 'conflict' };
      return nodeIdClaims.claim(nodeId, credential);
    },
  };
}
