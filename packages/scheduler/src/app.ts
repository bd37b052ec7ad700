/**
 * Composition root, by hand: reads top to bottom as the architecture. Stores, then the fleet view, then the three domains
 * wired to one another by events, then the transports. Started in that order, stopped in the reverse.
 */
import type { AddressInfo } from 'node:net';
import { createJobEvents } from './adapters/memory/job-events.ts';
import { createPrometheusMeter } from './adapters/prometheus/meter.ts';
import { systemClock } from './adapters/system/clock.ts';
import { createEventLoopProbe } from './adapters/system/event-loop.ts';
import { createIdSource } from './adapters/system/id-source.ts';
import { alone } from './alone.ts';
import { createBeside } from './beside.ts';
import { createClusterPage } from './cluster-page.ts';
import type { LoadResult } from './config/load-config.ts';
import type { Config } from './config/settings.ts';
import { createEdges } from './edges.ts';
import { createInputAudio } from './input-audio.ts';
import type { NodeRegistry } from './management/node-registry.ts';
import { createNeighbourhood } from './neighbourhood.ts';
import { createNodeSide } from './node-side.ts';
import { createObservation } from './observation.ts';
import { createPoolsOfApp, type Reload } from './pools-of-app.ts';
import type { Log } from './ports/log.ts';
import { createPrintGauges } from './print-gauges.ts';
import { createJobService, type RunningJobService } from './runtime/create-job-service.ts';
import { createFleetView } from './runtime/fleet/fleet-view.ts';
import { createJobReader, type JobReader } from './runtime/job-reader.ts';
import { createSessionService } from './session/create-session-service.ts';
import type { SessionService } from './session/session-service.ts';
import { jobServiceSettings, sessionSettings } from './settings-from-config.ts';
import type { SharedStore } from './shared-store.ts';
import { createShutDown } from './shut-down.ts';
import { createTenancy } from './tenancy.ts';
import { createTraces, tracing } from './traces.ts';
import { createNodeSockets } from './transport/ws/node-sockets.ts';
import { VERSION } from './version.ts';

export interface App {
  /** Listens; answers where. */
  start(): Promise<AddressInfo>;
  /** Takes nothing new, lets jobs end, closes everything. Safe to call twice. */
  stop(): Promise<void>;
  readonly jobs: RunningJobService;
  readonly sessions: SessionService;
  readonly reader: JobReader;
  readonly registry: NodeRegistry;
  /** Takes over what the configuration says of pools by now; no job is dropped. */
  reload(): Promise<Reload>;
}

const MAX_JOB_LISTENERS = 20_000;

export interface AppDeps {
  readonly config: Config;
  readonly log: Log;
  /** The store of several instances. Absent: this process is alone and needs none. */
  readonly shared?: SharedStore | undefined;
  /** Reads the configuration again from where it came from. */
  readonly reread?: (() => Promise<LoadResult>) | undefined;
}

export function createApp(deps: AppDeps): App {
  const { config, log, shared } = deps;
  const clock = systemClock;
  const chance = Math.random;
  const ids = createIdSource({ clock, digestsRequests: shared !== undefined });
  const meter = createPrometheusMeter();
  const loop = createEventLoopProbe();
  const observation = createObservation({ config, clock, meter, log, loop, shared });
  const tools = { config, clock, ids, meter, log, slow: observation.slow };
  const fleet = createFleetView();
  const pools = createPoolsOfApp({ config, fleet, clock, meter, log, reread: deps.reread });
  const sockets = createNodeSockets({ clock });
  const localEvents = createJobEvents({
    maxListeners: MAX_JOB_LISTENERS,
    onFault: (fault) => log.error({ err: fault }, 'a listener of job events failed'),
  });
  const inputAudio = createInputAudio({ config, log, isAlone: shared === undefined });
  const { store: audio, references } = inputAudio;

  // What is remembered. One process keeps it in memory; several share a store behind the same ports.
  const together =
    shared &&
    createNeighbourhood({
      ...tools,
      store: shared,
      chance,
      localEvents,
      local: {
        jobs: () => jobs,
        sessions: () => sessions,
        registry: () => registry,
        heardMissing: (nodeId, missing) => modelReports.hear(nodeId, missing),
        fleet,
        audioAt: inputAudio.at,
        cutEverybody: sockets.cutAll,
        cutNode: sockets.cut,
      },
    });
  const here = together ?? alone(config, localEvents);
  const { ledger, jobStore: store, directory, mailbox, modelDebounce, events } = here;

  const traces = createTraces({ config, clock, meter, log, instanceId: together?.instanceId });

  // What each tenant may have, of which this instance grants its share.
  const tenancy = createTenancy(config, () => together?.instances() ?? 1);

  // Cold path: who the nodes are, and how jobs reach them.
  const { registry, modelReports, link, knowledge, endpoints } = createNodeSide({
    ...tools,
    chance,
    fleet,
    sockets,
    ledger,
    directory,
    mailbox,
    audio,
    references,
    together,
    jobs: () => jobs,
    modelDebounce,
    withdrawn: () => beside.catalogue.refreshSoon(),
  });

  // Hot path: jobs onto nodes.
  const jobs = createJobService({
    ...tools,
    chance: config.scheduler.candidate_shuffle ? chance : NO_CHANCE,
    ledger,
    store,
    events: {
      publish: tracing(traces?.tracer, (job) => {
        events.publish(job);
        sessions.jobMoved(job);
      }),
      subscribe: events.subscribe,
    },
    audio,
    link,
    fleet,
    tenancy,
    settings: jobServiceSettings(config),
    nodes: knowledge,
    ...(together && { drivers: together.drivers, isStoreSteady: together.isStoreSteady }),
  });
  const answers = together?.answers(jobs);
  const reader = createJobReader({ clock, store, events });

  // Beside the hot path: what can be had from the hub, and statistics.
  const beside = createBeside({
    ...tools,
    registry,
    fleet,
    jobs,
    sessions: () => sessions,
    shared,
    together,
  });

  // Sessions: speech becomes jobs, and their outcomes leave in order.
  const sessions = createSessionService({
    ...tools,
    chance,
    audio,
    jobs: { dispatch: beside.dispatch, waiting: jobs.waiting, cancel: (answers?.heard ?? jobs).cancel },
    pools: pools.sessionPools,
    tenancy,
    settings: sessionSettings(config),
    tracer: traces?.tracer,
    elsewhere: together && {
      store: together.sessionStore,
      owner: together.driver,
      records: store,
      events,
      release: together.releaseSession,
    },
  });

  const page = createClusterPage({ clock, log, sockets, sessions, jobs, pools, shared, together });
  const { http, socketServer, phase, gate } = createEdges({
    tenancy,
    ...tools,
    ...observation.watched({ registry, sessions }),
    jobs,
    answers,
    reader,
    mailbox,
    endpoints,
    sockets,
    fleet,
    audio: inputAudio,
    together,
    cluster: page,
    beside,
    pools,
    metrics: observation.shown({ jobs, beside }),
  });
  meter.onPrint(registry.measure);
  meter.onPrint(pools.measure);
  meter.onPrint(beside.printGauges);
  meter.onPrint(
    createPrintGauges({
      meter,
      jobs,
      sessions,
      store,
      events: localEvents,
      mailbox: 'levels' in mailbox ? mailbox : undefined,
      audio,
      http,
      gate,
      loop,
      modelReports,
      together,
    }),
  );

  const shutDown = createShutDown({
    sessions,
    jobs,
    registry,
    sockets,
    socketServer,
    http,
    endpoints,
    loop,
    log,
    withdraw: together?.withdraw,
    leave: async () => {
      page.reporter?.stop();
      beside.stop();
      observation.stop();
      await together?.stop();
      await traces?.stop();
    },
    drainTimeoutMs: config.server.drain_timeout_ms,
    drains: () => {
      phase.isDraining = true;
    },
    leaves: () => {
      phase.isLeaving = true;
    },
  });
  let stopping: Promise<void> | undefined;

  return {
    jobs,
    sessions,
    reader,
    registry,
    reload: pools.reload,
    async start() {
      await traces?.start();
      const address = await http.listen({ host: config.server.host, port: config.server.port });
      const base = inputAudio.serve(address);
      await together?.start(base);
      page.reporter?.start();
      beside.start();
      observation.start();
      const mode = shared?.mode ?? 'embedded';
      const instance = together && { instance_id: together.instanceId };
      log.info(
        { host: address.address, port: address.port, mode, version: VERSION, ...instance },
        'listening',
      );
      return address;
    },
    stop() {
      stopping ??= shutDown();
      return stopping;
    },
  };
}

/** Without shuffling the same fleet gives the same choice, to reproduce a problem. */
const NO_CHANCE = () => 0;
