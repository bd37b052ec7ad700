/** What is kept of a world when its history has been checked and dropped, and the sum of several. Pure. */
import { createHash } from 'node:crypto';
import type { FaultKind } from '../../../packages/simulation/dist/history.js';
import type { Scenario } from '../../../packages/simulation/dist/world/scenario.js';
import { printSummary } from '../checker/print.ts';
import { type Finding, INVARIANTS } from '../checker/violation.ts';
import type { SeedResult } from './run-seed.ts';
import type { World } from './worlds.ts';

export interface WorldOrder extends World {
  readonly faults: readonly FaultKind[];
  readonly scenario: Partial<Scenario>;
  /** Where its history is written. */
  readonly historyFile?: string | undefined;
}

export interface WorldReport {
  readonly world: World;
  /** Requests that were made: a few more than were ordered. */
  readonly jobs: number;
  readonly finding: Required<Finding>;
  readonly digest: string;
  readonly faults: Readonly<Record<string, number>>;
  readonly virtualMs: number;
  readonly simulatedMs: number;
  readonly judgedMs: number;
  /** Fault by fault, for people. */
  readonly summary: string;
}

export type RunReport = Omit<WorldReport, 'world'>;

export function reportOf(world: World, result: SeedResult): WorldReport {
  const { simulation, finding, digest, jobs, simulatedMs, judgedMs } = result;
  return {
    world,
    jobs,
    finding,
    digest,
    faults: Object.fromEntries(simulation.faults),
    virtualMs: simulation.virtualMs,
    simulatedMs,
    judgedMs,
    summary: printSummary(simulation.history, finding),
  };
}

export function joinReports(reports: readonly WorldReport[]): RunReport {
  const [first] = reports;
  if (first !== undefined && reports.length === 1) return first;
  const finding = {
    violations: reports.flatMap(({ finding }) => finding.violations),
    counts: addUp(reports.map(({ finding }) => finding.counts)),
    judged: Object.fromEntries(
      INVARIANTS.map((name) => [name, sum(reports, ({ finding }) => finding.judged[name] ?? 0)]),
    ),
  };
  return {
    jobs: sum(reports, ({ jobs }) => jobs),
    finding,
    digest: digestOf(reports),
    faults: addUp(reports.map(({ faults }) => faults)),
    virtualMs: sum(reports, ({ virtualMs }) => virtualMs),
    simulatedMs: sum(reports, ({ simulatedMs }) => simulatedMs),
    judgedMs: sum(reports, ({ judgedMs }) => judgedMs),
    summary: printSummary([], finding),
  };
}

const sum = (reports: readonly WorldReport[], of: (report: WorldReport) => number): number =>
  reports.reduce((total, report) => total + of(report), 0);

/** Maxima are merged as maxima; everything else is added. */
const isPeak = (name: string): boolean => /^(most|longest) |^tenants$|^gauges sampled$/.test(name);

function addUp(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) {
      const before = total[name] ?? 0;
      total[name] = isPeak(name) ? Math.max(before, count) : before + count;
    }
  return total;
}

function digestOf(reports: readonly WorldReport[]): string {
  const hash = createHash('sha256');
  for (const { digest } of reports) hash.update(`${digest}\n`);
  return hash.digest('hex').slice(0, 16);
}
