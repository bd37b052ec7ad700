/**
 * Cold path: the statistics for requests. A snapshot is built every few seconds, one at a time. A request gets the last snapshot at once,
 * or none. A request may start a build now and then, and never waits for it.
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
      /** The printed text, made once for all requests. */
      readonly body: Buffer;
      readonly updatedAt: number;
      readonly ageMs: number;
      readonly isStale: boolean;
    }
  | { readonly kind: 'not_ready'; readonly retryAfterMs: number };

export interface StatsService {
  /** For a request: counted, and it may start a build. */
  read(): StatsReading;
  /** For metrics. */
  latest(): StatsSnapshot | undefined;
  start(): void;
  stop(): void;
}

export interface StatsTimes {
  readonly intervalMs: number;
  /** Age at which a snapshot is stale. */
  readonly staleAfterMs: number;
  /** Time between two builds that requests started. */
  readonly fallbackApartMs: number;
  /** A build that takes longer is abandoned, and the next one may start. */
  readonly giveUpAfterMs: number;
}

export const statsTimes = (intervalMs: number): StatsTimes => ({
  intervalMs,
  staleAfterMs: 2 * intervalMs,
  fallbackApartMs: 30_000,
  giveUpAfterMs: 60_000,
});

export interface SnapshotSource {
  /** Builds a new one. Undefined: there is no correct result. */
  build(): Promise<StatsSnapshot | undefined>;
  /** A newer one that another instance built, read between two builds; absent: no other instance builds. */
  look?(): Promise<StatsSnapshot | undefined>;
}

export function createStatsService(deps: {
  readonly source: SnapshotSource;
  /** One piece at a time. */
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
      log.warn({ begun_at: building.begunAt }, 'counting the statistics takes too long; starting again');
    const own = { begunAt };
    building = own;
    meter.count('scheduler_stats_builds_total', { trigger });
    try {
      await take(await source.build(), { isPrintedAnew: true });
      meter.observe('scheduler_stats_build_seconds', (clock.now() - begunAt) / 1_000);
    } catch (fault) {
      log.warn({ err: fault }, 'cannot count the statistics; keeping the last ones');
    } finally {
      if (building === own) building = undefined;
    }
  }

  const isBuilding = (now: number): boolean =>
    building !== undefined && now - building.begunAt < giveUpAfterMs;

  /** The last snapshot stays until there is a newer one. A build includes the current catalogue, even if the figures are the same. */
  async function take(
    found: StatsSnapshot | undefined,
    { isPrintedAnew }: { readonly isPrintedAnew: boolean },
  ): Promise<void> {
    if (found === undefined || !isNewer(found)) return;
    const isKnown = !isPrintedAnew && snapshot?.stats === found.stats;
    const body = isKnown ? snapshot?.body : await inSteps(deps.print(found.stats), clock);
    // Another one may have been printed meanwhile.
    if (body !== undefined && isNewer(found)) snapshot = { ...found, body };
  }

  const isNewer = ({ updatedAt }: StatsSnapshot): boolean => updatedAt >= (snapshot?.updatedAt ?? 0);

  async function look(): Promise<void> {
    try {
      await take(await source.look?.(), { isPrintedAnew: false });
    } catch (fault) {
      log.debug({ err: fault }, 'cannot read the statistics of all instances; keeping the last ones');
    }
  }

  /** The next turn does not wait for this one, so that a stuck build cannot hide that the snapshot is stale. */
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
