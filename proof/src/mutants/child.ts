/** Runs in its own process, inside a bundle: simulates seed after seed until an invariant is broken, and reports which. */
import { runSeed } from '../simulate/run-seed.ts';
import type { Order, Report } from './order.ts';

const order = JSON.parse(process.argv[2] ?? '') as Order;
const report: Report = { runs: 0, jobs: 0, broken: [] };
for (const seed of order.seeds) {
  const { finding, jobs } = await runSeed({
    seed,
    jobs: order.jobs,
    scenario: order.scenario,
    ...(order.faults !== undefined && { faults: order.faults }),
  });
  report.runs += 1;
  report.jobs += jobs;
  if (finding.violations.length === 0) continue;
  const invariants = [...new Set(finding.violations.map(({ invariant }) => invariant))];
  report.broken = invariants.map((invariant) => ({
    seed,
    invariant,
    message: finding.violations.find((each) => each.invariant === invariant)?.message ?? '',
  }));
  if (order.untilBroken.length === 0 || invariants.some((each) => order.untilBroken.includes(each))) break;
}
process.stdout.write(JSON.stringify(report));
