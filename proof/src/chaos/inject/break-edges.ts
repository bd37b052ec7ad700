/** Nodes die, and the networks of nodes and clients break or are slow. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetNode } from '../fleet/fleet-node.ts';
import type { Break, World } from './world.ts';

const [SLOW_MS, SLOWEST_MS] = [20, 400];
const LONGEST_ABSENCE_MS = 10_000;

export function breakEdges({ nodes, clients }: World) {
  /** Nodes that are down already. */
  const down = new Set<FleetNode>();
  const upAt = (pick: number): FleetNode | undefined => {
    const node = nodes[pick % nodes.length];
    return node === undefined || down.has(node) ? undefined : node;
  };

  return {
    async node_killed(planned, begin) {
      const node = upAt(planned.pick);
      if (node === undefined) return;
      down.add(node);
      const end = begin(node.name);
      node.kill();
      await sleep(planned.lastsMs);
      await node.restart();
      end();
      down.delete(node);
    },
    async node_cut(planned, begin) {
      const node = upAt(planned.pick);
      if (node === undefined) return;
      const end = begin(node.name);
      node.cut();
      end();
    },
    async client_cut(planned, begin) {
      const client = clients[planned.pick % clients.length];
      if (client === undefined) return;
      const end = begin(client.name);
      // The scheduler is not judged for the time in which the client was away, within reason.
      await Promise.race([client.cut(), sleep(LONGEST_ABSENCE_MS)]);
      end();
    },
    async network_bad(planned, begin) {
      const all = [...nodes, ...clients];
      const hit = all[planned.pick % all.length];
      if (hit === undefined) return;
      const end = begin(hit.name);
      hit.delay(SLOW_MS + planned.degree * (SLOWEST_MS - SLOW_MS));
      await sleep(planned.lastsMs);
      hit.delay(0);
      end();
    },
  } satisfies Record<string, Break>;
}
