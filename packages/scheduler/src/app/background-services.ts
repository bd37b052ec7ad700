/** Composition root: the background services: the catalogue and the statistics. A dispatch waits for neither. */
import { createServiceHub } from '../adapters/http/service-hub.ts';
import { createServiceIndex } from '../adapters/system/service-index.ts';
import type { Config } from '../config/settings.ts';
import { type Catalogue, createCatalogue } from '../management/catalogue/create-catalogue.ts';
import type { NodeRegistry } from '../management/node-registry.ts';
import { countPart, type StatsSources } from '../management/stats/count-part.ts';
import { createSharedSource } from '../management/stats/shared-source.ts';
import {
  createStatsService,
  type SnapshotSource,
  type StatsService,
  statsTimes,
} from '../management/stats/stats-service.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import { countWhileHubDown } from '../runtime/dispatch/count-hub-down.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import type { SessionService } from '../session/session-service.ts';
import { createPrintStats } from '../transport/http/views/print-stats.ts';
import type { MultiInstance } from './multi-instance.ts';
import type { SharedStore } from './redis-store.ts';
import { catalogueSettings } from './settings/settings-from-config.ts';

export interface BackgroundServices {
  readonly catalogue: Catalogue;
  readonly stats: StatsService;
  /** The dispatch of the job service; its outcomes are counted while the hub is down. */
  readonly dispatch: RunningJobService['dispatch'];
  /** Called when metrics are printed. */
  printGauges(): void;
  start(): void;
  stop(): void;
}

export function createBackgroundServices(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  readonly registry: Pick<NodeRegistry, 'census'>;
  readonly fleet: Pick<FleetView, 'load'>;
  readonly jobs: Pick<RunningJobService, 'dispatch'>;
  readonly sessions: () => Pick<SessionService, 'counts' | 'languageUses'>;
  readonly shared: Pick<SharedStore, 'statsStore' | 'locks'> | undefined;
  readonly multiInstance: Pick<MultiInstance, 'instanceId' | 'living' | 'isFenced'> | undefined;
}): BackgroundServices {
  const { config, clock, meter, log, registry, fleet, jobs, sessions, shared, multiInstance } = parts;
  const startedAt = clock.now();

  const { base_url: baseUrl, storage_path: folder } = config.model_hub;
  const { requestTimeoutMs: timeoutMs, ...settings } = catalogueSettings(config);
  const catalogue = createCatalogue({
    hub: baseUrl === undefined ? undefined : createServiceHub({ baseUrl, timeoutMs }),
    index: folder === undefined ? undefined : createServiceIndex({ folder }),
    clock,
    meter,
    log,
    settings,
  });

  const sources: StatsSources = {
    nodes: registry.census,
    isInUse: ({ nodeId, resources }) => resources.runningJobs > 0 || (fleet.load(nodeId)?.used ?? 0) > 0,
    activeUsers: () => sessions().counts().connected,
    languages: () => sessions().languageUses(),
  };
  const count = () => countPart(sources, clock);
  const ownSource: SnapshotSource = {
    build: async () => ({ stats: await count(), updatedAt: clock.now() }),
  };
  const { snapshot_interval_ms: intervalMs } = config.scheduler.stats;
  const stats = createStatsService({
    times: statsTimes(intervalMs),
    print: createPrintStats(catalogue),
    source:
      shared === undefined || multiInstance === undefined
        ? ownSource
        : createSharedSource({
            count,
            statsStore: shared.statsStore,
            locks: shared.locks,
            instanceId: multiInstance.instanceId,
            living: async () => (await multiInstance.living()).keys(),
            isFenced: multiInstance.isFenced,
            intervalMs,
            clock,
            log,
          }),
    clock,
    meter,
    log,
  });

  return {
    catalogue,
    stats,
    dispatch: catalogue.hasHub
      ? countWhileHubDown({ dispatch: jobs.dispatch, isHubDown: catalogue.isHubDown, meter })
      : jobs.dispatch,
    printGauges() {
      const { failCount, lastSuccessAt, services } = catalogue.state();
      const now = clock.now();
      const updatedAt = stats.latest()?.updatedAt;
      meter.gauge('scheduler_dashboard_snapshot_age_seconds', secondsBetween(updatedAt ?? now, now));
      meter.gauge('scheduler_service_catalog_fail_count', failCount);
      meter.gauge('scheduler_service_catalog_entries', services.length);
      if (!catalogue.hasHub) return;
      const succeededAt = lastSuccessAt ?? startedAt;
      meter.gauge('scheduler_service_catalog_last_success_age_seconds', secondsBetween(succeededAt, now));
      meter.gauge('scheduler_hub_up', catalogue.isHubDown() ? 0 : 1);
    },
    start() {
      catalogue.start();
      stats.start();
    },
    stop() {
      catalogue.stop();
      stats.stop();
    },
  };
}

const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1_000;
