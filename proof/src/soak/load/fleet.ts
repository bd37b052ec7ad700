/** Nodes of every kind. From time to time one loses its connection, or dies and another process takes its place. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createSeededChance,
  seedOf,
} from '../../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import type { FleetNode } from '../../chaos/fleet/fleet-node.ts';
import { joinHttpFleetNode } from '../../chaos/fleet/http-fleet-node.ts';
import { joinLegacyFleetNode } from '../../chaos/fleet/legacy-fleet-node.ts';
import { createTemper } from '../../chaos/fleet/node-process.ts';
import { joinSdkFleetNode } from '../../chaos/fleet/sdk-fleet-node.ts';
import { type Backend, liveNear, takeTurns } from '../../chaos/wire/balancer.ts';
import { LEGACY_SLOTS } from '../rig/settings.ts';
import { countingRecorder, type Work } from './tally.ts';

export interface Fleet {
  /** Begins to lose connections and processes. */
  trouble(): void;
  /** No more of it; resolves when all nodes are connected. */
  calm(): Promise<void>;
  stop(): Promise<void>;
}

const TROUBLE_EVERY_MS = 4_000;
const DEAD_MS = 800;

export async function joinFleet(options: {
  readonly seed: number;
  readonly work: Work;
  readonly backends: () => readonly Backend[];
}): Promise<Fleet> {
  const { work, backends } = options;
  const chance = createSeededChance(seedOf(options.seed, 1));
  const recorder = countingRecorder(work);
  const member = (name: string, slots: number, index: number) => ({
    name,
    slots,
    recorder,
    temper: createTemper(createSeededChance(seedOf(options.seed, 10 + index))),
  });
  // Nodes that come back under their name. A legacy node gets a new name with every process, and the scheduler keeps the generation
  // of a name for an hour: legacy nodes here would be a trend for that long.
  const lively: FleetNode[] = await Promise.all([
    ...[0, 1, 2].map((index) =>
      joinSdkFleetNode({ ...member(`node-sdk-${index}`, 6, index), backends: liveNear(index, backends) }),
    ),
    ...(['poll', 'endpoint'] as const).map((way, index) =>
      joinHttpFleetNode({ ...member(`node-${way}`, 2, 5 + index), backends: takeTurns(backends), way }),
    ),
  ]);
  const field = await joinLegacyFleetNode({ ...member('node-field', LEGACY_SLOTS, 9), backends });

  const over = new AbortController();
  let troubling: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    for (;;) {
      await sleep(TROUBLE_EVERY_MS * (0.5 + chance()), undefined, { signal: over.signal });
      const node = lively[Math.floor(chance() * lively.length)] as FleetNode;
      if (chance() < 0.5) {
        work.nodesCut += 1;
        node.cut();
      } else {
        work.nodesKilled += 1;
        node.kill();
        await sleep(DEAD_MS);
        await node.restart();
      }
    }
  }

  return {
    trouble() {
      troubling = run().catch((fault: unknown) => {
        if (!over.signal.aborted) throw fault;
      });
    },
    async calm() {
      over.abort();
      await troubling;
    },
    async stop() {
      await Promise.all([...lively, field].map((node) => node.stop()));
    },
  };
}
