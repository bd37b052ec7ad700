/** One seed: simulated, and checked. */
import { createHash } from 'node:crypto';
import { type FaultKind, type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import {
  runSimulation,
  type Simulation,
  type SimulationOptions,
} from '../../../packages/simulation/dist/run-simulation.js';
import { checkHistory } from '../checker/check-history.ts';
import type { Finding } from '../checker/violation.ts';
import { simulationAllowances } from './allowances.ts';

export interface SeedResult {
  readonly simulation: Simulation;
  readonly finding: Required<Finding>;
  /** Of the whole history: the same for the same seed, on any machine. */
  readonly digest: string;
  readonly jobs: number;
  /** Of the simulation alone, and of the checker. */
  readonly simulatedMs: number;
  readonly judgedMs: number;
}

export async function runSeed(options: SimulationOptions): Promise<SeedResult> {
  const begunAt = performance.now();
  const simulation = await runSimulation(options);
  const simulatedAt = performance.now();
  const finding = checkHistory({ history: simulation.history }, simulationAllowances(options.scenario));
  return {
    simulation,
    finding,
    digest: digestOf(simulation.history),
    jobs: ofKind(simulation.history, 'asked').length,
    simulatedMs: simulatedAt - begunAt,
    judgedMs: performance.now() - simulatedAt,
  };
}

/** A call for each line costs more than the line. */
const LINES_AT_ONCE = 256;

export const lineOf = (each: HistoryEvent): string => `${JSON.stringify(each)}\n`;

function digestOf(history: readonly HistoryEvent[]): string {
  const hash = createHash('sha256');
  for (let from = 0; from < history.length; from += LINES_AT_ONCE)
    hash.update(
      history
        .slice(from, from + LINES_AT_ONCE)
        .map(lineOf)
        .join(''),
    );
  return hash.digest('hex').slice(0, 16);
}

export type { FaultKind };
