/** The command `lingua plan`: how many nodes and instances a load needs. */
import { findFleet, usualLength } from '../../plan/find-fleet.ts';
import { instancesNeeded } from '../../plan/workload.ts';
import type { CommandIo } from '../command-io.ts';
import { PLAN_USAGE, readPlan } from './plan-options.ts';
import { type Plan, planJson, printPlan, printSize } from './plan-report.ts';

export async function runPlan(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readPlan(argv);
  if (read.kind === 'help') {
    io.out(PLAN_USAGE);
    return 0;
  }
  if (read.kind === 'invalid') {
    for (const problem of read.problems) io.err(`lingua plan: ${problem}`);
    return 2;
  }
  const { plan: options } = read;
  const { workload, target, seed } = options;
  const length = usualLength(workload, target, options.seconds);
  io.err(`lingua plan: simulating ${length.warmUp + length.counted} jobs with fleets of several sizes`);
  const found = await findFleet({
    workload,
    target,
    length,
    seed,
    interrupted: io.interrupted,
    simulated: (figures) => io.err(`lingua plan: ${printSize(figures)}`),
  });
  if (found === undefined) {
    io.err('lingua plan: interrupted, there is no plan');
    return 1;
  }
  const instances = instancesNeeded(workload.arrivalsPerSecond, options.instanceRate);
  const plan: Plan = { options, length, found, instances };
  io.out(options.isJson ? JSON.stringify(planJson(plan), undefined, 2) : printPlan(plan));
  return 0;
}
