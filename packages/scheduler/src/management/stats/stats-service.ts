/**
 * Cold path: the statistics as requests find them. A snapshot is made every few seconds, one at a time; whoever asks gets the last one
 * at once, or is told that there is none. A request may begin a snapshot now and then, and never waits for it.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import { inSteps } from './count-part.ts';
import type { StatsPart } from './stats-part.ts';

export interface StatsSnapshot {
  readonly stats: StatsPart;
  readonly updatedAt: number;
}

export type StatsReading =
  | {
      readonly kind: 'snapshot';
      /** As it was printed, once for all requests. */
      readonly body: Buffer;
      readonly updatedAt: number;
      readonly ageMs: number;
      readonly isStale: boolean;
    }
  | { readonly kind: 'not_ready'; readonly retryAfterMs: number };

export interface StatsService {
  /** For a request: counted, and it may begin a build. */
  read(): StatsReading;
  /** For metrics. */
  latest(): StatsSnapshot | undefined;
  start(): void;
  stop(): void;
}

export interface StatsTimes {
  readonly intervalMs: number;
  /** Age from which on a snapshot is old. */
  readonly staleAfterMs: number;
  /** Time between two builds that requests began. */
  readonly fallbackApartMs: number;
  /** A build that takes longer is not waited for any more: the next may begin. */
  readonly giveUpAfterMs: number;
}

export const statsTimes = (intervalMs: number): StatsTimes => ({
  intervalMs,
  staleAfterMs: 2 * intervalMs,
  fallbackApartMs: 30_000,
  giveUpAfterMs: 60_000,
});

export interface SnapshotSource {
  /** Makes a new one. Undefined: there is nothing to show that would be true. */
  build(): Promise<StatsSnapshot | undefined>;
  /** A newer one that somebody else made, asked between two builds; absent: nobody else does. */
  look?(): Promise<StatsSnapshot | undefined>;
}

export function createStatsService(deps: {
  readonly source: SnapshotSource;
  /** A piece at a time. */
  readonly print: (stats: StatsPart) => Generator<void, Buffer>;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  readonly times: StatsTimes;
}): StatsService {
  const { source, clock, meter, log } = deps;
  const { intervalMs, staleAfterMs, fallbackApartMs, giveUpAfterMs } = deps.times;
  let snapshot: (StatsSnapshot & { readonly body: Buffer }) | undefined;
  let building: { readonly begunAt: number } | undefined;
  let isStopped = false;
  let fallbackAt = Number.NEGATIVE_INFINITY;
  let cancel: Cancel | undefined;

  async function build(trigger: 'interval' | 'request'): Promise<void> {
    const begunAt = clock.now();
    if (isStopped || isBuilding(begunAt)) return;
    if (building !== undefined)
      log.warn({ begun_at: building.begunAt }, 'counting the statistics hangs; begun anew');
    const own = { begunAt };
    building = own;
    meter.count('scheduler_stats_builds_total', { trigger });
    try {
      await take(await source.build(), { isPrintedAnew: true });
      meter.observe('scheduler_stats_build_seconds', (clock.now() - begunAt) / 1_000);
    } catch (fault) {
      log.warn({ err: fault }, 'the statistics were not counted; those of before stay');
    } finally {
      if (building === own) building = undefined;
    }
  }

  const isBuilding = (now: number): boolean =>
    building !== undefined && now - building.begunAt < giveUpAfterMs;

  /** What is there stays until there is something newer. With a build comes the catalogue as it is by then, also if the figures are the same. */
  async function take(
    found: StatsSnapshot | undefined,
    { isPrintedAnew }: { readonly isPrintedAnew: boolean },
  ): Promise<void> {
    if (found === undefined || !isNewer(found)) return;
    const isKnown = !isPrintedAnew && snapshot?.stats === found.stats;
    const body = isKnown ? snapshot?.body : await inSteps(deps.print(found.stats), clock);
    // Another may have been printed meanwhile.
    if (body !== undefined && isNewer(found)) snapshot = { ...found, body };
  }

  const isNewer = ({ updatedAt }: StatsSnapshot): boolean => updatedAt >= (snapshot?.updatedAt ?? 0);

  async function look(): Promise<void> {
    try {
      await take(await source.look?.(), { isPrintedAnew: false });
    } catch (fault) {
      log.debug({ err: fault }, 'the statistics of all instances were not read; those of before stay');
    }
  }

  /** The next turn does not wait for this one: a build that hangs must not hide that the snapshot gets old. */
  function turn(isBuild: boolean): void {
    if (isStopped) return;
    void (isBuild ? build('interval') : look());
    const isHalf = source.look !== undefined;
    cancel = clock.after(isHalf ? intervalMs / 2 : intervalMs, () => turn(isHalf ? !isBuild : true));
  }

  /** In the background, and rarely: requests come far more often than anything changes. */
  function fallBack(now: number): void {
    if (isBuilding(now) || now - fallbackAt < fallbackApartMs) return;
    fallbackAt = now;
    void build('request');
  }

  return {
    read() {
      const now = clock.now();
      meter.count('scheduler_stats_requests_total');
      const ageMs = snapshot === undefined ? undefined : Math.max(0, now - snapshot.updatedAt);
      const isStale = ageMs === undefined || ageMs > staleAfterMs;
      if (isStale) {
        meter.count('scheduler_stats_stale_total');
        fallBack(now);
      }
      if (snapshot === undefined || ageMs === undefined)
        return { kind: 'not_ready', retryAfterMs: intervalMs };
      const { body, updatedAt } = snapshot;
      return { kind: 'snapshot', body, updatedAt, ageMs, isStale };
    },
    latest: () => snapshot,
    start: () => turn(true),
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}
