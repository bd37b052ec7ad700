/** Simulation: all nodes, each on a machine that can die and start again. */

import { STAGES, type Stage } from '../../../scheduler/dist/domain/stage.js';
import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import {
  type NodeIdentity,
  type NodeWorld,
  type SimulatedNode,
  startSimulatedNode,
} from '../fleet/simulated-node.ts';
import { createTemper, type Temper } from '../fleet/temper.ts';
import type { Network } from '../net/network.ts';
import {
  LANGUAGES,
  MANY_LANGUAGES,
  type Scenario,
  STAGES_OF,
  serviceOf,
  TENANTS,
  type Tenant,
} from './scenario.ts';

export interface Fleet {
  readonly size: number;
  start(at: number): void;
  kill(at: number): void;
  freeze(at: number): void;
  wake(at: number): void;
  /** The connection between the node and its instance breaks once. */
  cut(at: number): void;
  /** From here on no node misbehaves. */
  behave(): void;
  /** While this is set, no node finishes a job. */
  pauseWork(isPaused: boolean): void;
  /** The process that runs there, or ran last. */
  nameAt(at: number): string;
  machineAt(at: number): Machine | undefined;
  /** Names of the running processes that requests can fill while no node finishes a job: the others wait for the text of a first stage. */
  fillable(): readonly string[];
}

/** A typed text is translated first. */
const IS_FIRST: Readonly<Record<Stage, boolean>> = { asr: true, semantic: false, nmt: true, tts: false };
/** Every third node is a legacy node. */
const LEGACY_EVERY = 3;

export function createFleet(deps: {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly world: NodeWorld;
  readonly seed: string;
  readonly scenario: Scenario;
}): Fleet {
  const { time, network, world, scenario } = deps;
  const nodes: SimulatedNode[] = [];
  let starts = 0;
  let isWellBehaved = false;
  let isPaused = false;

  function temperOf(chance: Chance): Temper {
    const [bad, good] = [scenario.badness, 0].map((badness) =>
      createTemper(chance, badness, scenario.workMs),
    ) as [Temper, Temper];
    return () => (isWellBehaved ? good : bad)();
  }

  function abilitiesAt(at: number, tenant: Tenant): Omit<NodeIdentity, 'nodeId' | 'slots' | 'pool'> {
    if (at >= scenario.nodes) {
      const kinds = STAGES_OF[tenant];
      const stages = kinds[Math.floor((at - scenario.nodes) / TENANTS.length) % kinds.length];
      return { style: 'sdk', languages: MANY_LANGUAGES, stages, isThroughEnglish: tenant === 'globex' };
    }
    if (at % LEGACY_EVERY === LEGACY_EVERY - 1) return { style: 'legacy', languages: LANGUAGES };
    const takesStages = scenario.stageNodes > 0 && tenant === 'acme';
    return { style: 'sdk', languages: LANGUAGES, stages: takesStages ? STAGES : undefined };
  }

  function start(at: number): void {
    starts += 1;
    const nodeId = `node-${at + 1}`;
    const machine = createMachine({ time, name: `${nodeId}.${starts}` });
    const chance = seededChance(`${deps.seed}/${machine.name}`);
    const tenant = TENANTS[at % TENANTS.length] ?? TENANTS[0];
    const node = startSimulatedNode({
      machine,
      identity: {
        nodeId,
        slots: scenario.slots,
        ...abilitiesAt(at, tenant),
        pool: { name: tenant, service: serviceOf(tenant) },
      },
      world,
      temper: temperOf(chance),
      chance,
    });
    if (isPaused) node.pauseWork(true);
    nodes[at] = node;
  }

  const size = scenario.nodes + scenario.stageNodes;
  for (let at = 0; at < size; at++) start(at);

  return {
    size,
    start(at) {
      if (nodes[at]?.machine.isAlive() !== true) start(at);
    },
    kill(at) {
      const machine = nodes[at]?.machine;
      if (machine?.isAlive() !== true) return;
      machine.kill();
      network.cutOff(machine, 'the process has ended');
      world.recorder.record({ kind: 'node_down', node: machine.name });
    },
    freeze(at) {
      const machine = nodes[at]?.machine;
      machine?.freeze();
      if (machine !== undefined) network.watchSilence(machine);
    },
    wake: (at) => nodes[at]?.machine.wake(),
    cut(at) {
      const machine = nodes[at]?.machine;
      if (machine !== undefined) network.cutOff(machine, 'the connection broke');
    },
    behave() {
      isWellBehaved = true;
    },
    pauseWork(paused) {
      isPaused = paused;
      for (const node of nodes) if (node.machine.isAlive()) node.pauseWork(paused);
    },
    machineAt: (at) => nodes[at]?.machine,
    nameAt: (at) => nodes[at]?.machine.name ?? '',
    fillable: () =>
      nodes
        .filter(
          ({ machine, stages = STAGES }) => machine.isAlive() && stages.some((stage) => IS_FIRST[stage]),
        )
        .map(({ machine }) => machine.name),
  };
}
