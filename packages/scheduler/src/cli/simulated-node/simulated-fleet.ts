/** Many simulated nodes at once, of several kinds in given proportions. */
import type { NodeLog } from '@lingua/sdk/node';
import type { Stage } from '../../domain/stage.ts';
import { type Behaviour, HEALTHY, type Share } from './behaviour.ts';
import { seedOf } from './seeded-chance.ts';
import { createSimulatedNode, type SimulatedCounts, type SimulatedNode } from './simulated-node.ts';

export interface FleetOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly count: number;
  readonly languages: readonly string[];
  /** Absent: all. A legacy node always has all. */
  readonly stages?: readonly Stage[];
  readonly slots: number;
  readonly mix?: readonly Share[];
  readonly seed: number;
  /** Absent: the scheduler names the nodes. */
  readonly nodeIdPrefix?: string;
  readonly log?: NodeLog | undefined;
}

export interface FleetCounts extends Omit<SimulatedCounts, 'isUp'> {
  readonly nodes: number;
  readonly up: number;
}

export interface SimulatedFleet {
  /** Resolves when all nodes are registered. */
  start(): Promise<void>;
  counts(): FleetCounts;
  readonly nodes: readonly SimulatedNode[];
  stop(): Promise<void>;
}

export function createSimulatedFleet(options: FleetOptions): SimulatedFleet {
  const { mix = [{ share: 1, behaviour: HEALTHY }] } = options;
  const nodes = spread(mix, options.count).map((behaviour, index) =>
    createSimulatedNode({
      url: options.url,
      token: options.token,
      nodeId: options.nodeIdPrefix === undefined ? undefined : `${options.nodeIdPrefix}-${index + 1}`,
      log: options.log,
      languages: options.languages,
      ...(options.stages !== undefined && { stages: options.stages }),
      slots: options.slots,
      behaviour,
      seed: seedOf(options.seed, index),
    }),
  );
  return {
    nodes,
    start: async () => {
      await Promise.all(nodes.map((node) => node.start()));
    },
    counts: () => sum(nodes.map((node) => node.counts())),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

/**
 * The behaviour of each node: the kind that is furthest behind its share comes next, so that the first few nodes already
 * show the mix.
 */
export function spread(mix: readonly Share[], count: number): Behaviour[] {
  const total = mix.reduce((sum, { share }) => sum + share, 0);
  const given = mix.map(() => 0);
  return Array.from({ length: count }, (_, index) => {
    let furthest = 0;
    let most = Number.NEGATIVE_INFINITY;
    for (const [kind, { share }] of mix.entries()) {
      const behind = (share / total) * (index + 1) - (given[kind] ?? 0);
      if (behind > most) {
        most = behind;
        furthest = kind;
      }
    }
    given[furthest] = (given[furthest] ?? 0) + 1;
    return mix[furthest]?.behaviour ?? HEALTHY;
  });
}

function sum(all: readonly SimulatedCounts[]): FleetCounts {
  const total = { nodes: all.length, up: 0, running: 0, done: 0, failed: 0, silent: 0, crashes: 0 };
  for (const counts of all) {
    if (counts.isUp) total.up += 1;
    total.running += counts.running;
    total.done += counts.done;
    total.failed += counts.failed;
    total.silent += counts.silent;
    total.crashes += counts.crashes;
  }
  return total;
}
