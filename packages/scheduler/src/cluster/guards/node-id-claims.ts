/** Composition root: the directory as many instances use it: what a store that was emptied has forgotten, they still know. */
import type { NodeId } from '../../domain/ids.ts';
import type { NodeDirectory } from '../../ports/node-id-claims.ts';

export function createDirectoryOfMany(deps: {
  directory: NodeDirectory;
  /** Whose the id is, as far as this instance knows of a node here or elsewhere. */
  credentialOf: (nodeId: NodeId) => string | undefined;
}): NodeDirectory {
  const { directory, credentialOf } = deps;
  return {
    ...directory,
    async claim(nodeId, credential) {
      const known = credentialOf(nodeId);
      if (known !== undefined && known !== credential) return { kind: 'conflict' };
      return directory.claim(nodeId, credential);
    },
  };
}
