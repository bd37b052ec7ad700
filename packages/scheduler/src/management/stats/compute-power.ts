/** Cold path: the free computing power of a node, in the unit of legacy dashboards. Pure. */
import type { Hardware, ResourceReport } from '../../domain/capability-report.ts';
import { MAX_DETAILS, type NodePower, type Power } from './stats-part.ts';

/** Usage in percent above which nothing counts as free. */
const FULL_CPU = 50;
const FULL_GPU = 75;
const FULL_MEMORY = 75;

export const NO_POWER: Power = { cpu: 0, gpu: 0, memory: 0 };

/** An unknown figure counts as unused; a node without hardware data counts as nothing. */
export function powerOf(hardware: Hardware | undefined, resources: ResourceReport): Power {
  if (hardware === undefined) return NO_POWER;
  const { cpuCores, memoryGb, gpusGb } = hardware;
  const gpuGb = gpusGb.reduce((sum, gb) => sum + gb, 0);
  return {
    cpu: free(FULL_CPU, resources.cpuPercent) * cpuCores,
    gpu: free(FULL_GPU, resources.gpuPercent) * gpuGb,
    memory: free(FULL_MEMORY, resources.memoryPercent) * memoryGb,
  };
}

const free = (full: number, percent: number | undefined): number =>
  Math.max(0, full - Math.max(0, percent ?? 0)) / 100;

export const addPower = (a: Power, b: Power): Power => ({
  cpu: a.cpu + b.cpu,
  gpu: a.gpu + b.gpu,
  memory: a.memory + b.memory,
});

export interface PowerRanking {
  add(node: NodePower): void;
  result(): readonly NodePower[];
}

/** The most powerful nodes, by total power. */
export function createPowerRanking(most = MAX_DETAILS): PowerRanking {
  let best: NodePower[] = [];
  const cut = (): void => {
    best.sort((a, b) => sumOf(b) - sumOf(a) || (a.nodeId < b.nodeId ? -1 : 1));
    best = best.slice(0, most);
  };
  return {
    add(node) {
      best.push(node);
      if (best.length >= 2 * most) cut();
    },
    result() {
      cut();
      return best;
    },
  };
}

const sumOf = ({ cpu, gpu, memory }: Power): number => cpu + gpu + memory;
