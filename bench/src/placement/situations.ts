/** The situations of npm run placement -- --situations: two regions, machines that are taken away, an overload. */
import { createRegions } from '../../../packages/scheduler/dist/domain/region.js';
import { type JobFate, MEAN_MS, runSituation, type Situation } from './run-situation.ts';

const REGION = { near: 'eu', far: 'us' };
const ROUND_TRIP_MS = 90;
const NODES = 40;
const SLOTS = 4;
/** All slots taken all the time. */
const CAPACITY_GAP_MS = MEAN_MS / (NODES * SLOTS);

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((one, other) => one - other)[
    Math.min(values.length - 1, Math.floor(share * values.length))
  ] ?? Number.NaN;

const timesOf = (fates: readonly JobFate[]): number[] => fates.flatMap(({ ms }) => ms ?? []);
const lostOf = (fates: readonly JobFate[]): number => fates.filter(({ ms }) => ms === undefined).length;
const ms = (value: number): string => value.toFixed(0).padStart(9);
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`.padStart(10);

const plain = (jobs: number, load: number): Situation => ({
  nodes: NODES,
  slots: SLOTS,
  jobs,
  gapMs: CAPACITY_GAP_MS / load,
  waitMs: 60_000,
  request: () => ({}),
  seed: '1',
});

/** Half of the nodes in each region. One region gets 1.15 times what its nodes serve, the other 0.3 times. */
async function twoRegions(jobs: number): Promise<void> {
  const regionOf = (node: number): string => (node % 2 === 0 ? REGION.near : REGION.far);
  const isNear = (number: number): boolean => (number * 0.618_033_988) % 1 < 1.15 / 1.45;
  const run = async (stays: boolean) =>
    runSituation({
      ...plain(jobs, 1.45 / 2),
      regionOf,
      regions: createRegions({
        own: undefined,
        otherMs: ROUND_TRIP_MS,
        roundTrips: [],
        residency: new Map(
          stays
            ? [
                ['near', [REGION.near]],
                ['far', [REGION.far]],
              ]
            : [],
        ),
      }),
      wayMs: (number, node) =>
        regionOf(node) === (isNear(number) ? REGION.near : REGION.far) ? 0 : ROUND_TRIP_MS,
      request: (number) => ({
        tenantId: isNear(number) ? 'near' : 'far',
        region: isNear(number) ? REGION.near : REGION.far,
      }),
    });
  console.log(
    `\ntwo regions, one at its peak, ${ROUND_TRIP_MS} ms apart\n${'jobs'.padEnd(28)}      p50      p99    p99.9   refused`,
  );
  for (const [title, stays] of [
    ['stay in their region', true],
    ['go to the next region', false],
  ] as const) {
    const peak = (await run(stays)).filter((_, number) => isNear(number));
    const times = timesOf(peak);
    console.log(
      `${title.padEnd(28)}${[0.5, 0.99, 0.999].map((share) => ms(quantile(times, share))).join('')}${percent(lostOf(peak) / peak.length)}`,
    );
  }
}

async function takenAway(jobs: number): Promise<void> {
  console.log(
    `\nmachines taken away, 70 % load\n${'of the machines'.padEnd(44)}      p50      p99    p99.9      lost`,
  );
  const everyMs = 60_000 / 0.2;
  for (const [title, change] of [
    ['none', undefined],
    ['20 % a minute, told 30 s before', { everyMs, noticeMs: 30_000, isAnnounced: true }],
    ['20 % a minute, told 1 s before', { everyMs, noticeMs: 1_000, isAnnounced: true }],
    ['20 % a minute, without a word', { everyMs, noticeMs: 1_000, isAnnounced: false }],
  ] as const) {
    const fates = await runSituation({ ...plain(jobs, 0.7), ...(change && { takenAway: change }) });
    const times = timesOf(fates);
    console.log(
      `${title.padEnd(44)}${[0.5, 0.99, 0.999].map((share) => ms(quantile(times, share))).join('')}${String(lostOf(fates)).padStart(10)}`,
    );
  }
}

/** Twice what the nodes serve; one job in ten is urgent; a job may wait 3 s. */
async function overload(jobs: number): Promise<void> {
  console.log(
    `\ntwice the capacity, jobs may wait 3 s\n${'late jobs'.padEnd(24)}   useful  urgent lost   p99 of a refusal   refused at once`,
  );
  const isUrgent = (number: number): boolean => number % 10 === 0;
  for (const [title, refusesLate] of [
    ['wait in vain', false],
    ['are refused at once', true],
  ] as const) {
    const fates = await runSituation({
      ...plain(jobs, 2),
      waitMs: 3_000,
      refusesLate,
      request: (number) => ({ priority: isUrgent(number) ? 'high' : 'normal' }),
    });
    const urgent = fates.filter((_, number) => isUrgent(number));
    const refusals = fates.flatMap(({ refusedAfterMs }) => refusedAfterMs ?? []);
    // Of what the nodes could have done in the time of the arrivals.
    const useful = (timesOf(fates).length * MEAN_MS) / (NODES * SLOTS) / ((jobs * CAPACITY_GAP_MS) / 2);
    console.log(
      `${title.padEnd(24)}${percent(Math.min(1, useful))}${percent(lostOf(urgent) / urgent.length).padStart(12)}${`${quantile(refusals, 0.99).toFixed(0)} ms`.padStart(18)}${percent(refusals.filter((each) => each === 0).length / refusals.length).padStart(18)}`,
    );
  }
}

export async function printSituations(jobs: number): Promise<void> {
  console.log(`${NODES} equal nodes with ${SLOTS} slots, ${jobs} jobs of ${MEAN_MS} ms on average`);
  await twoRegions(jobs);
  await takenAway(jobs);
  await overload(jobs);
}
