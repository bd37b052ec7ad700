/** Composition root: the operators' view of all instances, and the figures that this instance publishes for it. */
import { hostname } from 'node:os';
import { VERSION } from '../../cli/version.ts';
import { type ClusterReader, createClusterReader } from '../../cluster/operators/cluster-reader.ts';
import { createFiguresReporter, type FiguresReporter } from '../../cluster/operators/figures-reporter.ts';
import { createDeadLetterExpiry, type DeadLetterExpiry } from '../../cluster/recovery/dead-letter-expiry.ts';
import {
  createDeadLetterService,
  type DeadLetterService,
  NO_DEAD_LETTERS,
} from '../../cluster/recovery/dead-letter-service.ts';
import type { JobId } from '../../domain/ids.ts';
import type { NodeRegistry } from '../../management/node-registry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Figures } from '../../ports/instance-figures.ts';
import type { Instance } from '../../ports/instances.ts';
import type { JobStore } from '../../ports/job-store.ts';
import type { Log } from '../../ports/log.ts';
import type { RunningJobService } from '../../runtime/create-job-service.ts';
import type { SessionService } from '../../session/session-service.ts';
import type { MultiInstance } from '../multi-instance.ts';
import type { ConfiguredPools } from '../pools.ts';
import type { SharedStore } from '../redis-store.ts';

export interface ClusterPage {
  readonly reader: ClusterReader;
  readonly deadLetters: DeadLetterService;
  readonly reporter?: FiguresReporter;
  readonly expiry?: DeadLetterExpiry | undefined;
}

export function createClusterPage(deps: {
  /** 0: dead letters are removed only at their limit. */
  deadLetterRetentionMs: number;
  instanceId: string;
  clock: Clock;
  log: Log;
  registry: Pick<NodeRegistry, 'online'>;
  sessions: Pick<SessionService, 'counts'>;
  jobs: Pick<RunningJobService, 'inFlight'>;
  pools: Pick<ConfiguredPools, 'digest'>;
  shared: SharedStore | undefined;
  multiInstance: Pick<MultiInstance, 'self' | 'isFenced' | 'replica'> | undefined;
  store: Pick<JobStore, 'get'>;
}): ClusterPage {
  const { clock, log, shared, multiInstance } = deps;
  const figures = (): Figures => ({
    nodes: deps.registry.online(),
    sessions: deps.sessions.counts().sessions,
    jobs: deps.jobs.inFlight(),
    pools: deps.pools.digest(),
  });
  if (shared === undefined || multiInstance === undefined) {
    return singleInstancePage({ instanceId: deps.instanceId, clock, figures });
  }
  return multiInstancePage({
    ...multiInstance,
    clock,
    log,
    figures,
    store: shared,
    retentionMs: deps.deadLetterRetentionMs,
    isKnown: async (jobId) => (await deps.store.get(jobId)) !== undefined,
  });
}

/** The view of a single instance. */
function singleInstancePage(deps: { instanceId: string; clock: Clock; figures: () => Figures }): ClusterPage {
  const self: Instance = {
    instanceId: deps.instanceId,
    incarnation: 'single',
    startedAt: deps.clock.now(),
    hostname: hostname(),
    pid: process.pid,
    version: VERSION,
  };
  const store = { mode: 'embedded', isOk: true } as const;
  return {
    reader: createClusterReader({ ...deps, self: () => self, store: () => store }),
    deadLetters: NO_DEAD_LETTERS,
  };
}

function multiInstancePage(deps: {
  clock: Clock;
  log: Log;
  figures: () => Figures;
  store: SharedStore;
  retentionMs: number;
  self: () => Instance;
  isFenced: () => boolean;
  isKnown: (jobId: JobId) => Promise<boolean>;
  replica: Pick<MultiInstance['replica'], 'stats'>;
}): ClusterPage {
  const { clock, log, store, self, isFenced, retentionMs } = deps;
  const { instances, inbox, figures, deadLetters } = store;
  const instanceId = () => self().instanceId;
  return {
    expiry:
      retentionMs > 0
        ? createDeadLetterExpiry({ deadLetters, instanceId, retentionMs, isFenced, clock, log })
        : undefined,
    reader: createClusterReader({
      clock,
      self,
      figures: deps.figures,
      store: () => ({
        mode: store.mode,
        isOk: store.isReachable() && !isFenced(),
        masters: store.masters?.(),
      }),
      warnings: () => [...store.warnings, ...refusedNodes(deps.replica.stats().refused)],
      shared: { instances, inbox, figures, deadLetters },
    }),
    deadLetters: createDeadLetterService({
      deadLetters,
      inbox,
      instances,
      clock,
      log,
      self,
      isFenced,
      isKnown: deps.isKnown,
    }),
    reporter: createFiguresReporter({
      figures,
      clock,
      log,
      instanceId,
      read: deps.figures,
      isFenced,
    }),
  };
}

const refusedNodes = (count: number): readonly string[] =>
  count === 0
    ? []
    : [
        `${count} nodes of other instances are not used here: they declare more than the limits of this instance (scheduler.declarations, scheduler.max_nodes) allow`,
      ];
