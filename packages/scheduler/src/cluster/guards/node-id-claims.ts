/** Composition root: the directory as many instances use it: what a store that was emptied has forgotten, they still know. */
import type { NodeId } from '../../domain/ids.ts';
import type { NodeIdClaims } from '../../ports/node-id-claims.ts';

export function guardNodeIdClaims(deps: {
  nodeIdClaims: NodeIdClaims;
  /** Whose the id is, as far as this instance knows of a node here or elsewhere. */
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
