/** What `lingua plan` prints: the answer first, then the sizes around it, then the assumptions. Pure. */
import {
  erlangLoss,
  erlangOf,
  type FleetAssessment,
  type FoundFleet,
  type JudgedSize,
  type Length,
} from '../../plan/find-fleet.ts';
import type { Range, SizeFigures } from '../../plan/size-figures.ts';
import { offeredSlots, type Spread } from '../../plan/workload.ts';
import { type Column, printTable } from '../print-table.ts';
import type { PlanOptions } from './plan-options.ts';

export interface Plan {
  readonly options: PlanOptions;
  readonly length: Length;
  readonly found: FoundFleet;
  /** Without spare nodes. */
  readonly instances: number;
}

const VERDICTS: Readonly<Record<FleetAssessment, string>> = {
  enough: 'enough',
  too_few: 'too few',
  not_settled: 'not settled',
};

/** One line about a fleet of some size. */
export const printSize = ({ nodes, busy, p99Ms, refused }: SizeFigures): string =>
  `${some(nodes, 'node')}: ${percent(busy)} busy, p99 wait ${time(p99Ms)}, ${percent(refused)} refused`;

export function printPlan(plan: Plan): string {
  const { options, found } = plan;
  const { spareNodes, spareInstances, instanceRate } = options;
  const nodes = found.nodes + spareNodes;
  const instances = plan.instances + spareInstances;
  const offered = offeredSlots(options.workload);
  return [
    `${some(nodes, 'node')} and ${some(instances, 'instance')}`,
    '',
    `  nodes      ${found.nodes} for the load (${percent(offered / (found.nodes * options.workload.slots))} of ${found.nodes * options.workload.slots} slots), ${spareNodes} spare`,
    `  instances  ${plan.instances} for the load (${short(options.workload.arrivalsPerSecond)}/s, ${short(instanceRate)}/s each), ${spareInstances} spare${instances > 1 ? '; several need Redis (scheduler.cluster)' : ''}`,
    ...figuresOf(plan),
    '',
    printTable(columnsOf(plan), found.neighbours),
    ...(found.neighbours.some(({ verdict }) => verdict === 'not_settled')
      ? [
          'not settled: nearly all slots are busy, so the simulation is too short for a result, and it does not count as enough',
        ]
      : []),
    '',
    ...erlangLines(plan),
    '',
    ...assumptions(plan),
  ].join('\n');
}

function chosen({ found }: Plan): JudgedSize {
  return found.neighbours.find(({ nodes }) => nodes === found.nodes) as JudgedSize;
}

function figuresOf(plan: Plan): string[] {
  const { target, workload } = plan.options;
  const { nodes, p50Ms, p95Ms, p99Ms, p99Range, refused, refusedRange } = chosen(plan);
  const doubts = [
    isWithin(target.waitP99Ms, p99Range) && '--wait-p99',
    isWithin(target.refused, refusedRange) && '--refused',
  ].filter((flag) => flag !== false);
  return [
    `  wait       p50 ${time(p50Ms)}, p95 ${time(p95Ms)}, p99 ${time(p99Ms)} (95 % confidence: ${range(p99Range, time)}; target: ${time(target.waitP99Ms)}), with ${some(nodes, 'node')}`,
    `  refused    ${percent(refused)} (${range(refusedRange, percent)}; target: ${percent(target.refused)})`,
    ...(doubts.length > 0
      ? [
          `             close: ${doubts.join(' and ')} is within the random variation; a larger --seconds is more certain`,
        ]
      : []),
    ...(target.waitP99Ms >= workload.maxWaitMs
      ? ['             --wait-p99 is not below --max-wait: no job waits longer, so only --refused decides']
      : []),
  ];
}

function columnsOf({ options, found }: Plan): Column<JudgedSize>[] {
  const { workload } = options;
  return [
    { title: 'nodes', cell: ({ nodes }) => nodes },
    { title: 'slots', cell: ({ slots }) => slots },
    { title: 'busy %', cell: ({ busy }) => rounded(100 * busy) },
    { title: 'p50 ms', cell: ({ p50Ms }) => rounded(p50Ms) },
    { title: 'p95 ms', cell: ({ p95Ms }) => rounded(p95Ms) },
    { title: 'p99 ms', cell: ({ p99Ms }) => rounded(p99Ms) },
    { title: '95 % range', cell: ({ p99Range }) => range(p99Range, (ms) => String(rounded(ms))) },
    { title: 'refused %', cell: ({ refused }) => rounded(100 * refused) },
    isLoss(options)
      ? { title: 'Erlang-B refused %', cell: ({ nodes }) => rounded(100 * erlangLoss(workload, nodes)) }
      : {
          title: 'Erlang-C p99 ms',
          cell: ({ nodes }) => rounded(erlangOf(workload, nodes).waitQuantileMs(0.99)),
        },
    {
      title: '',
      cell: ({ nodes, verdict }) =>
        nodes === found.nodes ? '<- smallest that is enough' : VERDICTS[verdict],
    },
  ];
}

function erlangLines({ options, found }: Plan): string[] {
  const { workload } = options;
  const formula = isLoss(options) ? 'Erlang-B (M/M/c/c, a formula)' : 'Erlang-C (M/M/c, a formula)';
  const word = found.erlangNodes === found.nodes ? 'the same' : some(found.erlangNodes, 'node');
  return [
    `${formula} gives ${word}. It may differ, because it assumes`,
    // Without waiting only the average service time matters.
    ...(workload.spread.kind === 'exp' || isLoss(options)
      ? []
      : [`- exponential service times; yours are ${spreadWords(workload.spread)}`]),
    ...(isLoss(options)
      ? []
      : [
          `- unlimited waiting; here a job that waited ${time(workload.maxWaitMs)} is refused, which leaves room for others`,
        ]),
    '- an unlimited time; a simulation varies randomly, see the range',
    'Both treat all slots as one pool: the scheduler gives any job to any free slot, first come, first served.',
  ];
}

/** Without a waiting queue. */
const isLoss = ({ workload }: PlanOptions): boolean => workload.maxWaitMs === 0;

function assumptions({ options, length }: Plan): string[] {
  const { workload, seed } = options;
  return [
    'Assumptions:',
    '- jobs arrive at random, one by one (Poisson), at a constant rate: plan for the busiest minutes, not for the day',
    '- every node can do every job; fleets that languages or pools divide are planned one part at a time',
    '- nodes do not fail and no job is tried again: that is what spare nodes are for',
    '- --service-time is the whole time that a slot is occupied, network included (scheduler_stage_seconds, ack and run)',
    '- one waiting queue; with several instances each has its own, and learns of slots that others release about 40 ms later',
    '- an instance is bound by its CPU; the usual --instance-rate was measured on one core without Redis (docs/operations.md): measure yours',
    `Simulated: ${length.counted} jobs (${short(length.counted / workload.arrivalsPerSecond)} s) for each size after ${length.warmUp} to warm up, the same ones for every size; seed ${seed}; ranges from 10 batches.`,
  ];
}

export function planJson(plan: Plan) {
  const { options, length, found, instances } = plan;
  const { workload, target } = options;
  return {
    nodes: found.nodes + options.spareNodes,
    instances: instances + options.spareInstances,
    nodes_for_load: found.nodes,
    spare_nodes: options.spareNodes,
    instances_for_load: instances,
    spare_instances: options.spareInstances,
    erlang_nodes: found.erlangNodes,
    workload: {
      arrivals_per_second: workload.arrivalsPerSecond,
      service_ms: workload.serviceMs,
      spread: workload.spread,
      slots: workload.slots,
      max_wait_ms: workload.maxWaitMs,
    },
    target: { wait_p99_ms: target.waitP99Ms, refused: target.refused },
    instance_rate: options.instanceRate,
    simulated: { jobs: length.counted, warm_up_jobs: length.warmUp, seed: options.seed },
    sizes: found.neighbours.map((size) => {
      const theory = erlangOf(workload, size.nodes);
      return {
        nodes: size.nodes,
        slots: size.slots,
        verdict: size.verdict,
        busy: size.busy,
        waited: size.waited,
        wait_ms: { mean: size.meanMs, p50: size.p50Ms, p95: size.p95Ms, p99: size.p99Ms },
        wait_p99_range_ms: size.p99Range,
        refused: size.refused,
        refused_range: size.refusedRange,
        erlang_b: { refused: erlangLoss(workload, size.nodes) },
        // null: these slots cannot do the work.
        erlang_c: {
          waited: theory.waitProbability,
          wait_ms: { mean: finite(theory.meanWaitMs), p99: finite(theory.waitQuantileMs(0.99)) },
        },
      };
    }),
  };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

const isWithin = (value: number, [low, high]: Range): boolean => value > low && value < high;

const some = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Three significant digits, and no more than two after the point. */
const rounded = (value: number): number =>
  Number.isFinite(value) ? Number(value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)) : value;

const short = (value: number): string => String(rounded(value));
const time = (ms: number): string => (ms >= 10_000 ? `${short(ms / 1_000)} s` : `${short(ms)} ms`);
const percent = (part: number): string => `${short(100 * part)} %`;
const range = ([low, high]: Range, print: (value: number) => string): string =>
  `${print(low)} to ${print(high)}`;

const spreadWords = (spread: Spread): string =>
  spread.kind === 'lognormal' ? `lognormal with sigma ${spread.sigma}` : 'all the same';
