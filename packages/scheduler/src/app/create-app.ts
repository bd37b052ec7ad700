/**
 * Composition root, by hand: the system's clock, chance and names, the core (create-core.ts), then the servers, metrics and the operators'
 * page. Started in this order, stopped in reverse.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { MOST_USAGE_ROWS } from '@lingua/protocol';
import { createPrometheusMeter } from '../adapters/prometheus/meter.ts';
import { createAuditLog } from '../adapters/system/audit-log.ts';
import { createCertificateFiles } from '../adapters/system/certificate-files.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { createEventLoopProbe } from '../adapters/system/event-loop.ts';
import { createIdSource } from '../adapters/system/id-source.ts';
import { VERSION } from '../cli/version.ts';
import { nameInstance } from '../cluster/membership/process-name.ts';
import { createErasure } from '../cluster/operators/erasure.ts';
import type { LoadResult, Origins } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { NodeRegistry } from '../management/node-registry.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import type { JobReader } from '../runtime/job-reader.ts';
import { createReadUsage } from '../runtime/usage/read-usage.ts';
import type { SessionService } from '../session/session-service.ts';
import { createNodeSockets } from '../transport/ws/node-sockets.ts';
import { createInputAudio } from './audio.ts';
import { type Core, createCore } from './create-core.ts';
import { createPrintGauges } from './observing/gauges.ts';
import { createObservation } from './observing/observability.ts';
import { createClusterPage } from './observing/operator-page.ts';
import { createPoolGauges } from './observing/pool-gauges.ts';
import { createWatching } from './observing/watching.ts';
import type { Reload } from './pools.ts';
import type { SharedStore } from './redis-store.ts';
import { createServers } from './servers.ts';
import { createShutDown } from './shutdown.ts';

export interface App {
  /** Listens, and returns the address. */
  start(): Promise<AddressInfo>;
  /** Refuses new work, lets jobs end, closes everything. Can be called twice. */
  stop(): Promise<void>;
  readonly jobs: RunningJobService;
  readonly sessions: SessionService;
  readonly reader: JobReader;
  readonly registry: NodeRegistry;
  /** Reloads the pools from the configuration; no job is dropped. */
  reload(): Promise<Reload>;
}

export interface AppDeps {
  readonly config: Config;
  readonly log: Log;
  /** The store that instances share. Absent: a single instance needs none. */
  readonly shared?: SharedStore | undefined;
  /** Also the clock of the store. Absent: the clock of the system. */
  readonly clock?: Clock | undefined;
  /** Reads the configuration again from its source. */
  readonly reread?: (() => Promise<LoadResult>) | undefined;
  /** Where each setting came from. Absent: all are shown as defaults. */
  readonly origins?: Origins | undefined;
  /** The name that its log lines have. Absent: the configured name, or a new one. */
  readonly instanceId?: string | undefined;
}

export function createApp(deps: AppDeps): App {
  const { config, log, shared } = deps;
  const { clock = systemClock } = deps;
  const newName = { hostname: hostname(), newName: randomUUID };
  const { instanceId = nameInstance(config.scheduler.cluster.instance_id, newName) } = deps;
  const ids = createIdSource({ clock, digestsRequests: shared !== undefined });
  const meter = createPrometheusMeter();
  const loop = createEventLoopProbe();
  const observation = createObservation({ config, clock, meter, log, loop, shared });
  const tools = { config, clock, ids, meter, log, slow: observation.slow };
  const audit = createAuditLog({ file: config.audit.file, instanceId, clock, meter, log });
  const sockets = createNodeSockets({ clock });
  const { cert_file: cert, key_file: key, client_ca_file: client_ca, ca_file: ca } = config.server.tls;
  const tls = createCertificateFiles({
    group: 'server.tls.',
    files: { cert, key, client_ca, ca },
    clock,
    log,
  });
  const inputAudio = createInputAudio({
    config,
    log,
    instanceId,
    isSingleInstance: shared === undefined,
    ca: tls.ca,
    now: () => core.multiInstance?.storeNow() ?? clock.now(),
  });
  const core: Core = createCore({
    ...tools,
    chance: Math.random,
    process: { ...newName, pid: process.pid, instanceId },
    sockets,
    audio: inputAudio,
    shared,
    reread: deps.reread,
  });
  const { fleet, pools, multiInstance, registry, jobs, sessions, reader, backgroundServices, traces } = core;

  const page = createClusterPage({
    instanceId,
    deadLetterRetentionMs: config.scheduler.cluster.dlq_retention_seconds * 1_000,
    clock,
    log,
    registry,
    sessions,
    jobs,
    pools,
    shared,
    multiInstance,
    store: core.store,
  });
  const watching = createWatching({
    config,
    origins: deps.origins ?? new Map(),
    clock,
    meter,
    log,
    instanceId: multiInstance?.instanceId ?? '',
    core,
    cluster: page.reader,
  });
  const { http, socketServer, phase, gate, changeCredentials } = createServers({
    readUsage: createReadUsage({
      store: core.usageStore,
      flush: core.usage.flush,
      mostRows: MOST_USAGE_ROWS,
    }),
    live: watching,
    watch: watching,
    tenancy: core.tenancy,
    audit,
    ...tools,
    ...observation.watched({ registry, sessions }),
    jobs,
    reports: core.reports,
    reader,
    plans: core.plans,
    planOf: core.planOf,
    dispatch: core.dispatch,
    quotas: core.quotas,
    glossaries: core.glossaries,
    require: core.require,
    erasure: createErasure({
      store: core.store,
      cancel: (core.reports?.byRequest ?? jobs).cancel,
      settled: reader.settled,
      eraseHere(order) {
        core.webhooks.erase(order);
        const notes = watching.reports.erase(order);
        return sessions.erase(order) || (order.isForgotten === true && notes > 0);
      },
      deadLetters: page.deadLetters,
      async eraseSaid(tenantId, said) {
        const erased = await core.rooms.service.eraseSaid(tenantId, said);
        return erased.kind === 'done' ? erased.utterances : undefined;
      },
      others: multiInstance?.erasing,
    }),
    eraseDelivered: core.eraseDelivered,
    webhooks: core.webhooks,
    onPartial: core.onPartial,
    recentAttempts: core.recentAttempts,
    mailbox: core.mailbox,
    endpoints: core.endpoints,
    sockets,
    fleet,
    audio: inputAudio,
    certificate: tls.certificate(),
    multiInstance,
    cluster: page,
    backgroundServices,
    rooms: core.rooms,
    pools,
    metrics: observation.shown({ jobs, backgroundServices }),
  });
  meter.onPrint(registry.measure);
  meter.onPrint(pools.measure);
  meter.onPrint(backgroundServices.printGauges);
  meter.onPrint(createPoolGauges({ clock, meter, log, scaling: watching.demand.scaling }));
  meter.onPrint(
    createPrintGauges({
      meter,
      jobs,
      sessions,
      store: core.store,
      events: core.localEvents,
      mailbox: 'levels' in core.mailbox ? core.mailbox : undefined,
      audio: inputAudio.store,
      usage: core.usage,
      webhooks: core.webhooks,
      http,
      gate,
      declarations: core.declarations,
      loop,
      rooms: core.rooms,
      modelReports: core.modelReports,
      multiInstance,
      shared,
    }),
  );

  const shutDown = createShutDown({
    sessions,
    jobs,
    registry,
    sockets,
    socketServer,
    http,
    endpoints: core.endpoints,
    webhooks: core.webhooks,
    loop,
    clock,
    log,
    withdraw: multiInstance?.withdraw,
    leave: async () => {
      tls.stop();
      page.reporter?.stop();
      page.expiry?.stop();
      backgroundServices.stop();
      core.rooms.stop();
      watching.stop();
      observation.stop();
      await multiInstance?.stop();
      await traces?.stop();
      gate.stop();
      await audit.close();
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
  let hasServed = false;

  return {
    jobs,
    sessions,
    reader,
    registry,
    async reload() {
      audit.reopen();
      const reload = await pools.reload(changeCredentials);
      const result = reload.kind === 'reloaded' ? 'done' : 'failed';
      audit.record({ action: 'reload', result, who: 'signal' });
      return reload;
    },
    async start() {
      await audit.open();
      await traces?.start();
      const address = await http.listen({ host: config.server.host, port: config.server.port });
      const base = inputAudio.serve(address);
      await multiInstance?.start(base);
      tls.watch(http.useCertificate);
      page.reporter?.start();
      page.expiry?.start();
      backgroundServices.start();
      observation.start();
      watching.start();
      const mode = shared?.mode ?? 'embedded';
      log.info({ host: address.address, port: address.port, mode, version: VERSION }, 'listening');
      hasServed = true;
      return address;
    },
    stop() {
      stopping ??= shutDown({ isQuiet: !hasServed });
      return stopping;
    },
  };
}
