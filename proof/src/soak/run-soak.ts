/** One soak: instances, nodes, a first measurement, work for the given time, and a check that all of it is gone again. */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createSeededChance,
  seedOf,
} from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { freePorts } from '../chaos/rig/schedulers.ts';
import { takeTurns } from '../chaos/wire/balancer.ts';
import { type RedisServer, startRedisServer } from '../redis/redis-servers.ts';
import type { SoakCommand } from './command.ts';
import { createBaseline, type Left } from './judge/quiet.ts';
import { callAgainAndAgain } from './load/callers.ts';
import { joinFleet } from './load/fleet.ts';
import { meetAgainAndAgain } from './load/meetings.ts';
import { noWork, type Work } from './load/tally.ts';
import { visitAgainAndAgain } from './load/visitors.ts';
import { watchRedis } from './measure/redis-figures.ts';
import { createAlbum, createSampler, type Sampler } from './measure/sampler.ts';
import type { Series } from './measure/series.ts';
import { STEADY_AFTER_S, settingsOf } from './rig/settings.ts';
import { startWatchedInstance, type WatchedInstance } from './rig/watched-instance.ts';

export interface Soaked {
  readonly seconds: number;
  readonly samples: number;
  readonly everySeconds: number;
  readonly series: readonly Series[];
  readonly work: Readonly<Work>;
  /** What did not return to its level in time. */
  readonly left: readonly Left[];
  /** How long it took until everything was as before; undefined: it never was. */
  readonly quietAfterSeconds: number | undefined;
  /** What instances logged as errors, and how often. */
  readonly errors: Readonly<Record<string, number>>;
}

export type Progress = (reported: {
  readonly phase: 'starts' | 'works' | 'ends';
  readonly seconds: number;
  readonly work: Work;
}) => void;

const VISITORS = 5;
const MEETINGS = 2;
const CALLERS = 2;
const CALLS_PER_SECOND = 3;
const MOST_SAMPLES = 600;
/** A garbage collection stops the process, and a count of all keys is work for Redis. */
const THOROUGH_MS = 3_000;
const BASELINE_LOOKS = 3;
const BASELINE_MS = 1_000;
/** The last entries are kept as long as any, and are then removed with a delay. */
const QUIET_MS = (STEADY_AFTER_S + 60) * 1_000;

export async function runSoak(
  command: SoakCommand,
  { folder, onProgress }: { readonly folder: string; readonly onProgress: Progress },
): Promise<Soaked> {
  const redis = command.instances === 1 ? undefined : await startRedisServer();
  const instances: WatchedInstance[] = [];
  const work = noWork();
  onProgress({ phase: 'starts', seconds: 0, work });
  try {
    instances.push(...(await startInstances(command.instances, folder, redis)));
    return await soak(command, instances, redis, work, onProgress);
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
    await redis?.stop();
  }
}

async function startInstances(
  count: number,
  folder: string,
  redis: RedisServer | undefined,
): Promise<WatchedInstance[]> {
  const started: WatchedInstance[] = [];
  // One after the other: together they would keep one another from being ready.
  for (const [index, port] of (await freePorts(count)).entries()) {
    const config = settingsOf(port, redis?.port);
    started.push(await startWatchedInstance({ name: `instance ${index + 1}`, port, folder, config }));
  }
  return started;
}

async function soak(
  command: SoakCommand,
  instances: readonly WatchedInstance[],
  redis: RedisServer | undefined,
  work: Work,
  onProgress: Progress,
): Promise<Soaked> {
  const backends = () => instances.map(({ name, port }) => ({ instance: name, port }));
  const watch = redis && watchRedis(redis.port);
  const sampler = createSampler({ instances, redis: watch });
  const fleet = await joinFleet({ seed: command.seed, work, backends });
  try {
    const baseline = createBaseline();
    for (let looks = 0; looks < BASELINE_LOOKS; looks += 1) {
      await sleep(BASELINE_MS);
      baseline.add(await sampler.look(true));
    }

    const startedAt = performance.now();
    const seconds = command.minutes * 60;
    const secondsSince = (since: number): number => (performance.now() - since) / 1_000;
    const isOver = (): boolean => secondsSince(startedAt) >= seconds;
    fleet.trouble();
    const load = beginLoad(command.seed, { work, backends, isOver });
    const album = createAlbum(startedAt);
    const everyMs = Math.max(1_000, (seconds * 1_000) / MOST_SAMPLES);
    const sampling = sample(sampler, album, everyMs, isOver, () =>
      onProgress({ phase: 'works', seconds: secondsSince(startedAt), work }),
    );
    await Promise.all([load, sampling]);
    await fleet.calm();

    const endedAt = performance.now();
    let left: Left[] = [];
    do {
      onProgress({ phase: 'ends', seconds: secondsSince(endedAt), work });
      await sleep(BASELINE_MS);
      left = baseline.leftIn(await sampler.look(true));
    } while (left.length > 0 && performance.now() - endedAt < QUIET_MS);
    return {
      seconds,
      samples: album.samples(),
      everySeconds: everyMs / 1_000,
      series: album.series(),
      work,
      left,
      quietAfterSeconds: left.length === 0 ? secondsSince(endedAt) : undefined,
      errors: errorsOf(instances),
    };
  } finally {
    await fleet.calm();
    await fleet.stop();
    watch?.close();
  }
}

function errorsOf(instances: readonly WatchedInstance[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const [message, count] of instances.flatMap((instance) => [...instance.errors()]))
    all[message] = (all[message] ?? 0) + count;
  return all;
}

type LoadParts = Pick<Parameters<typeof visitAgainAndAgain>[0], 'work' | 'backends' | 'isOver'>;

/** Resolves when all clients have left. */
async function beginLoad(seed: number, { work, backends, isOver }: LoadParts): Promise<void> {
  const turns = takeTurns(backends);
  const port = (): number => turns()[0]?.port ?? 0;
  const several = (count: number) => Array.from({ length: count }, (_, index) => index);
  await Promise.all([
    ...several(VISITORS).map((index) =>
      visitAgainAndAgain({
        name: `visitor-${index}`,
        chance: createSeededChance(seedOf(seed, 100 + index)),
        work,
        backends: turns,
        isOver,
      }),
    ),
    ...several(MEETINGS).map((index) =>
      meetAgainAndAgain({
        name: `meeting-${index}`,
        chance: createSeededChance(seedOf(seed, 300 + index)),
        work,
        backends: turns,
        isOver,
      }),
    ),
    ...several(CALLERS).map((index) =>
      callAgainAndAgain({
        name: `caller-${index}`,
        chance: createSeededChance(seedOf(seed, 200 + index)),
        perSecond: CALLS_PER_SECOND,
        work,
        port,
        isOver,
      }),
    ),
  ]);
}

/** By the clock: a slow measurement does not move the later ones. */
async function sample(
  sampler: Sampler,
  album: ReturnType<typeof createAlbum>,
  everyMs: number,
  isOver: () => boolean,
  reported: () => void,
): Promise<void> {
  let next = performance.now();
  let thoroughAt = 0;
  while (!isOver()) {
    const isThorough = performance.now() >= thoroughAt;
    if (isThorough) thoroughAt = performance.now() + THOROUGH_MS;
    album.add(await sampler.look(isThorough), isThorough);
    reported();
    next = Math.max(next + everyMs, performance.now());
    await sleep(next - performance.now());
  }
}
