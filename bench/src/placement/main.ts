/** npm run placement: what the policies of selection do to the time of a job, on declared fleets. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ScenarioError } from '../scenario/fields.ts';
import { type PlacementOptions, readOptions, USAGE } from './options.ts';
import { type Placed, placeJobs } from './place-jobs.ts';
import { type PlacementFleet, readFleet } from './read-fleet.ts';
import { printSituations } from './situations.ts';

const FOLDER = fileURLToPath(new URL('../../fleets/', import.meta.url));
const POLICIES = ['weighted_random', 'least_loaded', 'fastest', 'fastest + hedge', 'oracle'] as const;

interface Row {
  readonly fleet: string;
  readonly load: number;
  readonly policy: (typeof POLICIES)[number];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly firstTryPercent: number;
  readonly hedgedPercent: number;
}

function fleetsOf({ fleet }: PlacementOptions): readonly PlacementFleet[] | string {
  const names = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.toml'))
    .map((file) => file.slice(0, -'.toml'.length));
  if (fleet !== undefined && !names.includes(fleet))
    return `there is no fleet "${fleet}" in bench/fleets; there are ${names.join(', ')}`;
  return names
    .filter((name) => fleet === undefined || name === fleet)
    .map((name) => readFleet(`${name}.toml`, name, readFileSync(`${FOLDER}${name}.toml`, 'utf8')));
}

async function measure(
  fleet: PlacementFleet,
  load: number,
  policy: Row['policy'],
  { instances, viewDelayMs, jobs, seeds }: PlacementOptions,
): Promise<Row> {
  const runs: Placed[] = [];
  for (let seed = 1; seed <= seeds; seed++)
    runs.push(
      await placeJobs({
        fleet,
        policy: policy === 'fastest + hedge' ? 'fastest' : policy,
        isHedged: policy === 'fastest + hedge',
        load,
        instances,
        viewDelayMs,
        jobs,
        seed: `${seed}`,
      }),
    );
  const at = (share: number) => median(runs.map(({ timesMs }) => quantile(timesMs, share)));
  return {
    fleet: fleet.name,
    load,
    policy,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    firstTryPercent: median(runs.map(({ firstTryPercent }) => firstTryPercent)),
    hedgedPercent: median(runs.map(({ hedgedPercent }) => hedgedPercent)),
  };
}

const quantile = (ascending: Float64Array, share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] as number;

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] as number;

/** `base`: of the default policy under the same load. */
function lineOf(row: Row, base: Row): string {
  const ratio = (own: number, other: number): string => `${(own / other).toFixed(2)}×`.padStart(7);
  return [
    row.policy.padEnd(16),
    ...[row.p50Ms, row.p99Ms, row.p999Ms].map((ms) => ms.toFixed(0).padStart(8)),
    ratio(row.p99Ms, base.p99Ms),
    ratio(row.p999Ms, base.p999Ms),
    `${row.firstTryPercent.toFixed(1)} %`.padStart(10),
    row.hedgedPercent === 0 ? '' : `${row.hedgedPercent.toFixed(2)} %`.padStart(8),
  ].join('');
}

const HEADING = `${'policy'.padEnd(16)}${'p50 ms'.padStart(8)}${'p99'.padStart(8)}${'p99.9'.padStart(8)}${'p99 ÷'.padStart(7)}${'p99.9÷'.padStart(7)}${'first try'.padStart(10)}${'hedged'.padStart(8)}`;

async function main(options: PlacementOptions, fleets: readonly PlacementFleet[]): Promise<void> {
  const rows: Row[] = [];
  for (const fleet of fleets) {
    for (const load of options.loads) {
      if (!options.isJson) {
        const beside = options.instances === 1 ? '' : `, ${options.instances} instances`;
        console.log(`\n${fleet.title}, ${Math.round(100 * load)} % load${beside}\n${HEADING}`);
      }
      let base: Row | undefined;
      for (const policy of POLICIES) {
        const row = await measure(fleet, load, policy, options);
        base ??= row;
        rows.push(row);
        if (!options.isJson) console.log(lineOf(row, base));
      }
    }
  }
  if (options.isJson) console.log(JSON.stringify(rows, undefined, 2));
  else
    console.log(
      '\n÷: compared with the default policy. oracle: `fastest` if it knew every speed at every moment.',
    );
}

try {
  const options = readOptions(process.argv.slice(2));
  const fleets = typeof options === 'string' ? options : fleetsOf(options);
  if (options === 'help') console.log(USAGE);
  else if (typeof options === 'string' || typeof fleets === 'string') {
    console.error(`placement: ${typeof options === 'string' ? options : fleets}`);
    process.exitCode = 2;
  } else if (options.areSituations) await printSituations(options.jobs);
  else await main(options, fleets);
} catch (error) {
  if (!(error instanceof ScenarioError)) throw error;
  console.error(`placement: ${error.message}`);
  process.exitCode = 2;
}
