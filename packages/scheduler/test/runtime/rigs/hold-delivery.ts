/** A node whose endpoint has the job but does not answer yet. */
import type { Delivery } from '../../../src/ports/node-link.ts';
import type { Rig } from './rig.ts';

/** From now on deliveries to the node hang; the returned function ends them all as written. */
export function holdDelivery(rig: Rig, nodeId: string): () => void {
  const held: ((delivery: Delivery) => void)[] = [];
  rig.onDelivery(nodeId, () => new Promise<Delivery>((resolve) => held.push(resolve)));
  return () => {
    for (const answer of held.splice(0)) answer({ kind: 'written' });
  };
}
