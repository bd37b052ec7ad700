/** A node whose endpoint has taken the job and keeps the scheduler waiting for its answer. */
import type { Delivery } from '../../../src/ports/node-link.ts';
import type { Rig } from './rig.ts';

/** From now on deliveries to the node hang; the function returned lets them all come back as written. */
export function holdDelivery(rig: Rig, nodeId: string): () => void {
  const held: ((delivery: Delivery) => void)[] = [];
  rig.onDelivery(nodeId, () => new Promise<Delivery>((resolve) => held.push(resolve)));
  return () => {
    for (const answer of held.splice(0)) answer({ kind: 'written' });
  };
}
