/** Placement of jobs on declared fleets. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../src/placement/options.ts';
import { placeJobs } from '../src/placement/place-jobs.ts';
import { readFleet } from '../src/placement/read-fleet.ts';
import { runSituation } from '../src/placement/run-situation.ts';

const FOLDER = new URL('../fleets/', import.meta.url);
const fleetOf = (name: string) =>
  readFleet(`${name}.toml`, name, readFileSync(new URL(`${name}.toml`, FOLDER), 'utf8'));

const placed = (policy: 'weighted_random' | 'fastest' | 'oracle', more = {}) =>
  placeJobs({
    fleet: fleetOf('three-classes'),
    policy,
    load: 0.5,
    instances: 1,
    viewDelayMs: 50,
    jobs: 3_000,
    seed: '1',
    ...more,
  });
const p99 = ({ timesMs }: { readonly timesMs: Float64Array }) =>
  timesMs[Math.floor(0.99 * timesMs.length)] as number;

describe('placement', () => {
  it('every declared fleet can be read', () => {
    const names = readdirSync(FOLDER).map((file) => file.replace('.toml', ''));
    for (const name of names) expect(fleetOf(name).slowness.length).toBeGreaterThan(0);
    expect(names.length).toBeGreaterThan(3);
  });

  it('the same seed places the jobs alike', async () => {
    expect(await placed('fastest')).toEqual(await placed('fastest'));
  });

  it('the policy fastest shortens the tail on a fleet of three classes', async () => {
    expect(p99(await placed('fastest'))).toBeLessThan(0.75 * p99(await placed('weighted_random')));
  });

  it('a late view of three instances refuses some first tries', async () => {
    expect((await placed('fastest', { instances: 3 })).firstTryPercent).toBeLessThan(100);
    expect((await placed('fastest')).firstTryPercent).toBe(100);
  });

  it.each([
    ['slots = 4\ntitle = "x"', 'x.toml: nodes: must declare between 1 and 2000 nodes, not 0'],
    ['slots = 0\ntitle = "x"\n[[nodes]]\ncount = 1\nslowness = 1', 'x.toml: slots: must be at least 1'],
    ['slots = 1\ntitle = "x"\n[[nodes]]\ncount = 1\nspeed = 1', 'x.toml: nodes[0].slowness: is missing'],
    ['slots =', 'x.toml: '],
  ])('a wrong fleet is refused by field: %j', (text, message) => {
    expect(() => readFleet('x.toml', 'x', text)).toThrow(message);
  });

  it.each([
    [['--load', '2'], '--load takes numbers between 0 and 1'],
    [['--instances', '0'], '--instances takes a whole number from 1 to 16'],
    [['--fleat', 'x'], '--fleat'],
  ])('%j has its own message', (argv, message) => {
    expect(readOptions(argv)).toContain(message);
  });
});

describe('a situation', () => {
  const plain = {
    nodes: 10,
    slots: 4,
    jobs: 1_500,
    gapMs: 20,
    waitMs: 60_000,
    request: () => ({}),
    seed: '1',
  };

  it('loses no job when machines are taken away with notice', async () => {
    const takenAway = { everyMs: 20_000, noticeMs: 500, isAnnounced: true };
    const fates = await runSituation({ ...plain, jobs: 800, takenAway });
    expect(fates).toHaveLength(800);
    expect(fates.filter(({ ms }) => ms === undefined)).toEqual([]);
  });

  it('refuses late jobs at once, or lets them wait', async () => {
    const overloaded = { ...plain, gapMs: 600 / 80, waitMs: 3_000 };
    const refusals = async (refusesLate: boolean) =>
      (await runSituation({ ...overloaded, refusesLate })).flatMap(
        ({ refusedAfterMs }) => refusedAfterMs ?? [],
      );
    const [waited, atOnce] = [await refusals(false), await refusals(true)];
    expect(waited.length).toBeGreaterThan(300);
    expect(Math.min(...waited)).toBeGreaterThan(2_900);
    expect(atOnce.filter((ms) => ms === 0).length).toBeGreaterThan(0.9 * atOnce.length);
  });
});
