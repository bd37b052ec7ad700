/**
 * Composition root: an instance without its servers: stores, the fleet view, then nodes, jobs and sessions, connected by events. Real
 * instances add HTTP and sockets (create-app.ts), the simulation its own network.
 */
import { getHeapStatistics } from 'node:v8';
import { createJobEvents } from '../adapters/memory/job-events.ts';
import type { ProcessName } from '../cluster/membership/process-name.ts';
import type { LoadResult } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { EarlyText, PartialText } from '../domain/node-report.ts';
import type { UsageSink } from '../domain/usage.ts';
import { createDeclarationBudget } from '../management/registration/declaration-budget.ts';
import type { AudioFetcher } from '../ports/audio-fetcher.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { SlowWatch } from '../ports/slow-watch.ts';
import { createRecentAttempts } from '../runtime/attempts/recent-attempts.ts';
import { createJobService } from '../runtime/create-job-service.ts';
import { createFleetView } from '../runtime/fleet/fleet-view.ts';
import { createJobReader } from '../runtime/job-reader.ts';
import { publishMoves } from '../runtime/publish-moves.ts';
import { dispatchWithGlossary } from '../runtime/stages/dispatch-with-glossary.ts';
import { createGlossaries } from '../runtime/stages/glossaries.ts';
import { createTextsOfJobs } from '../runtime/texts-of-jobs.ts';
import { dispatchWithinQuotas } from '../runtime/usage/dispatch-within-quotas.ts';
import { createQuotas } from '../runtime/usage/quotas.ts';
import { createUsageRecorder } from '../runtime/usage/record-usage.ts';
import { createSessionService } from '../session/create-session-service.ts';
import {
  type AudioReferences,
  createAudioLocator,
  openWhenTaken,
} from '../transport/link/audio-references.ts';
import type { NodeSockets } from '../transport/ws/node-sockets.ts';
import { createBackgroundServices } from './background-services.ts';
import { createMultiInstance } from './multi-instance.ts';
import { createNodes } from './nodes.ts';
import { createTraces } from './observing/tracing.ts';
import { createPlans } from './plans.ts';
import { createConfiguredPools } from './pools.ts';
import type { SharedStore } from './redis-store.ts';
import { createConfiguredRooms } from './rooms.ts';
import { configuredQuotas } from './settings/quotas.ts';
import { configuredRegions } from './settings/regions.ts';
import { declarationLimits, jobServiceSettings, sessionSettings } from './settings/settings-from-config.ts';
import { configuredTenancy } from './settings/tenancy.ts';
import { createSingleInstance } from './single-instance.ts';
import { createConfiguredWebhooks } from './webhooks.ts';

export type Core = ReturnType<typeof createCore>;

const MAX_JOB_LISTENERS = 20_000;

export interface CoreDeps {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly slow: SlowWatch;
  readonly process: ProcessName;
  /** Connections of nodes. */
  readonly sockets: NodeSockets;
  readonly audio: {
    readonly store: AudioStore;
    readonly references: AudioReferences;
    readonly fetcher: AudioFetcher;
  };
  /** The store that instances share. Absent: a single instance needs none. */
  readonly shared?: SharedStore | undefined;
  /** Reads the configuration again from its source. */
  readonly reread?: (() => Promise<LoadResult>) | undefined;
}

export function createCore(deps: CoreDeps) {
  const { config, log, clock, chance, ids, meter, slow, sockets, shared } = deps;
  const { store: audio, references, fetcher } = deps.audio;
  const tools = { config, clock, ids, meter, log, slow };
  const fleet = createFleetView(undefined, configuredRegions(config));
  const declarations = declarationLimits(config, getHeapStatistics().heap_size_limit);
  const budget = createDeclarationBudget({ limits: declarations, meter });
  const pools = createConfiguredPools({ config, fleet, clock, meter, log, reread: deps.reread });
  const localEvents = createJobEvents({
    maxListeners: MAX_JOB_LISTENERS,
    onFault: (fault) => log.error({ err: fault }, 'a subscriber of job events failed'),
  });

  const partialTexts = createTextsOfJobs<PartialText>();
  const earlyTexts = createTextsOfJobs<EarlyText>();
  const receivePartial = (partial: PartialText): boolean => {
    partialTexts.publish(partial.jobId, partial);
    return sessions.partial(partial.jobId, partial.text, partial.isFinal, partial.nodeId);
  };

  const onPartialHere = (jobId: JobId, text: string, isFinal: boolean, nodeId: NodeId): void =>
    void receivePartial({ jobId, text, isFinal, nodeId });

  // Created later, because it writes to the store.
  const usageSink: UsageSink = {
    count: (...job) => usage.count(...job),
    write: (...job) => usage.write(...job),
  };

  // A single instance keeps its state in memory; several share a store behind the same ports.
  const multiInstance =
    shared &&
    createMultiInstance({
      ...tools,
      process: deps.process,
      store: shared,
      chance,
      budget: budget.others,
      localEvents,
      local: {
        jobs: () => jobs,
        sessions: () => sessions,
        rooms: () => rooms,
        registry: () => registry,
        receivePartial,
        partialTexts,
        reportMissing: (nodeId, missing) => modelReports.hear(nodeId, missing),
        fleet,
        audioAt: createAudioLocator(audio, references),
        cutAllNodes: sockets.cutAll,
        cutNode: sockets.cut,
        usage: usageSink,
        flushUsage: () => usage.flush(),
      },
    });
  const here = multiInstance ?? createSingleInstance(config, clock, localEvents, fleet.numbers, usageSink);
  const {
    ledger,
    jobStore: store,
    nodeIdClaims,
    mailbox,
    modelDebounce,
    events,
    usageStore,
    glossaryStore,
  } = here;
  const webhooks = createConfiguredWebhooks({ ...tools, chance, locks: here.locks });
  const usage = createUsageRecorder({
    store: usageStore,
    clock,
    log,
    meter,
    counted: (...job) => quotas?.counted(...job),
  });
  const quotasOf = configuredQuotas(config);
  const quotas =
    quotasOf && createQuotas({ of: quotasOf, store: usageStore, unwritten: usage.unwritten, clock, log });

  const traces = createTraces({ config, clock, meter, log, instanceId: multiInstance?.instanceId });

  // The limits of each tenant, of which this instance grants its share.
  const tenancy = configuredTenancy(config, () => multiInstance?.instances() ?? 1, webhooks.quotaReached);

  // Cold path: the nodes, and the link to them.
  const { registry, modelReports, link, localLink, knowledge, endpoints } = createNodes({
    ...tools,
    fleet,
    sockets,
    ledger,
    nodeIdClaims,
    mailbox,
    audio,
    references,
    fetcher,
    multiInstance,
    budget: budget.own,
    jobs: () => jobs,
    modelDebounce,
    withdrawn: () => backgroundServices.catalogue.refreshSoon(),
    webhooks,
  });

  // Hot path: jobs onto nodes.
  const recentAttempts = createRecentAttempts({ maxNodes: config.scheduler.max_nodes });
  const jobs = createJobService({
    ...tools,
    chance: config.scheduler.candidate_shuffle ? chance : NO_CHANCE,
    ledger,
    store,
    events: publishMoves({ events, sessions: () => sessions, tracer: traces, recentAttempts, webhooks }),
    audio,
    link,
    told: earlyTexts.publish,
    fleet,
    tenancy,
    settings: jobServiceSettings(config),
    nodes: knowledge,
    ...(multiInstance && {
      drivers: multiInstance.drivers,
      isStoreSteady: multiInstance.isStoreSteady,
      paceLearnt: multiInstance.paceLearnt,
    }),
  });
  const reports = multiInstance?.reports(jobs, localLink);
  const reader = createJobReader({
    clock,
    store,
    events,
    partialTexts,
    claimIfOrphaned: multiInstance && jobs.claimIfOrphaned,
  });

  // Background services: the catalogue of the hub, and statistics.
  const backgroundServices = createBackgroundServices({
    ...tools,
    registry,
    fleet,
    jobs,
    sessions: () => sessions,
    shared,
    multiInstance,
  });

  const { store_texts: storesTexts } = config.privacy;
  const eraseDelivered = (jobId: JobId): void =>
    void store
      .erase(jobId)
      .catch((fault: unknown) =>
        log.warn({ job_id: jobId, err: fault }, 'a delivered result was not erased'),
      );

  const glossaries = createGlossaries({ store: glossaryStore, clock });
  const glossaryOf = new Map(config.scheduler.tenants.map((row) => [row.tenant_id, row.glossary_id]));
  const dispatchTerms = dispatchWithGlossary({
    dispatch: backgroundServices.dispatch,
    glossaries,
    ofTenant: (tenantId) => glossaryOf.get(tenantId),
    log,
  });
  const dispatch =
    quotas === undefined
      ? dispatchTerms
      : dispatchWithinQuotas({ dispatch: dispatchTerms, quotas, store, clock, meter });

  // Plans: one utterance in several languages as several jobs.
  const cancel = (reports?.byRequest ?? jobs).cancel;
  const { plans, planOf, require, isSplittable } = createPlans({
    ...tools,
    chance,
    fleet,
    store,
    reader,
    earlyTexts,
    dispatch,
    cancel,
  });

  const rooms = createConfiguredRooms({ ...tools, plans, planOf, store, multiInstance });
  rooms.service.onEnded((room, reason) => webhooks.roomEnded(room, reason, config.rooms.log_ttl_ms));

  // Sessions: speech becomes jobs, and outcomes leave in order.
  const sessions = createSessionService({
    ...tools,
    chance,
    audio,
    jobs: {
      dispatch,
      waiting: jobs.waiting,
      cancel,
    },
    plans: rooms.plans,
    voiceInRoom: rooms.voiceOf,
    speaking: rooms.noteSpeaking,
    isSplittable,
    reachedQuota: quotas?.reached,
    pools: pools.sessionPools,
    tenancy,
    settings: sessionSettings(config),
    tracer: traces,
    delivered: storesTexts ? undefined : eraseDelivered,
    elsewhere: multiInstance && {
      store: storesTexts ? multiInstance.sessionStore : withoutContext(multiInstance.sessionStore),
      owner: multiInstance.driver,
      records: store,
      events,
      release: multiInstance.releaseSession,
      checkDriver: jobs.claimIfOrphaned,
    },
  });

  return {
    fleet,
    pools,
    localEvents,
    multiInstance,
    declarations: { bytes: budget.bytes, limit: declarations.fleetBytes },
    store,
    usage,
    usageStore,
    /** For nodes that fetch their jobs. */
    mailbox: openWhenTaken(mailbox, references),
    traces,
    webhooks,
    tenancy,
    registry,
    modelReports,
    endpoints,
    jobs,
    reports,
    reader,
    /** A node has sent partial text. */
    onPartial: multiInstance?.partialText.partial ?? onPartialHere,
    recentAttempts,
    /** Absent: results are kept for their retention. */
    eraseDelivered: storesTexts ? undefined : eraseDelivered,
    backgroundServices,
    dispatch,
    quotas,
    glossaries,
    plans,
    planOf,
    require,
    sessions,
    rooms,
  };
}

/** A saved session without what was said in it: where it is resumed, its next utterance has no context. */
const withoutContext = (store: SessionStore): SessionStore => ({
  ...store,
  save(state, owner, ttlMs) {
    const groups = state.groups.map((group) => ({ ...group, context: '' }));
    return store.save({ ...state, groups }, owner, ttlMs);
  },
});

/** Without shuffling, the same fleet leads to the same choice. This helps to reproduce a problem. */
const NO_CHANCE = () => 0;
