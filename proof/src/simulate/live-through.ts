/** One world from its beginning to its verdict. */
import { writeFileSync } from 'node:fs';
import { lineOf, runSeed } from './run-seed.ts';
import { reportOf, type WorldOrder, type WorldReport } from './world-report.ts';

export async function liveThrough(
  order: WorldOrder,
  progress?: (requested: number) => void,
): Promise<WorldReport> {
  const { seed, jobs, faults, scenario, historyFile } = order;
  const result = await runSeed({ seed, jobs, faults, scenario, progress });
  if (historyFile !== undefined) writeFileSync(historyFile, result.simulation.history.map(lineOf).join(''));
  return reportOf({ seed, jobs }, result);
}
