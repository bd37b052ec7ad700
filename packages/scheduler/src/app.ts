/**
 * Composition root, by hand: reads top to bottom as the architecture. Stores, then the fleet view, then the three domains
 * wired to one another by events, then the transports. Started in that order, stopped in the reverse.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { JobAssign } from '@lingua/protocol';
import { createEndpointCaller } from './adapters/http/endpoint-caller.ts';
import { createAudioStore } from './adapters/memory/audio-store.ts';
import { createCapacityLedger } from './adapters/memory/capacity-ledger.ts';
import { createJobEvents } from './adapters/memory/job-events.ts';
import { createJobStore } from './adapters/memory/job-store.ts';
import { createNodeDirectory } from './adapters/memory/node-directory.ts';
import { createNodeMailbox } from './adapters/memory/node-mailbox.ts';
import { createPrometheusMeter } from './adapters/prometheus/meter.ts';
import { systemClock } from './adapters/system/clock.ts';
import { createEventLoopProbe } from './adapters/system/event-loop.ts';
import { createIdSource } from './adapters/system/id-source.ts';
import type { Config } from './config/settings.ts';
import { createNodeRegistry } from './management/create-node-registry.ts';
import type { NodeRegistry } from './management/node-registry.ts';
import type { Log } from './ports/log.ts';
import { createPrintGauges } from './print-gauges.ts';
import { createJobService, type RunningJobService } from './runtime/create-job-service.ts';
import { createFleetView } from './runtime/fleet/fleet-view.ts';
import { createJobReader, type JobReader } from './runtime/job-reader.ts';
import { createSessionService } from './session/create-session-service.ts';
import { NO_POOLS } from './session/preferred-pool.ts';
import type { SessionService } from './session/session-service.ts';
import {
  accessSettings,
  httpSettings,
  jobServiceSettings,
  jobStoreLimits,
  managementSettings,
  sessionSettings,
  socketSettings,
} from './settings-from-config.ts';
import { createShutDown } from './shut-down.ts';
import { createAudioTokens } from './transport/access/audio-tokens.ts';
import { createGate } from './transport/access/create-gate.ts';
import { createNetworks } from './transport/access/networks.ts';
import { createHttpServer } from './transport/http/create-http-server.ts';
import { DRAINING } from './transport/http/http-services.ts';
import { audioBaseUrl, createAudioReferences } from './transport/link/audio-references.ts';
import { createNodeLink } from './transport/link/node-link.ts';
import { createNodeSockets } from './transport/ws/node-sockets.ts';
import { createSessionRoute } from './transport/ws/session-route.ts';
import { createSocketServer } from './transport/ws/socket-server.ts';
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
}

const MAX_JOB_LISTENERS = 20_000;
const SESSION_INIT_DEADLINE_MS = 60_000;

export function createApp({ config, log }: { config: Config; log: Log }): App {
  const clock = systemClock;
  const chance = Math.random;
  const ids = createIdSource({ clock, digestsRequests: false });
  const meter = createPrometheusMeter();
  const loop = createEventLoopProbe();

  // What is remembered. One process, so memory; several share a store behind the same ports.
  const ledger = createCapacityLedger({ clock });
  const store = createJobStore({ clock, ...jobStoreLimits(config) });
  const directory = createNodeDirectory({ maxNodes: config.scheduler.max_nodes });
  const mailbox = createNodeMailbox<JobAssign>({ clock, maxPerNode: config.scheduler.mailbox.max_jobs });
  const audio = createAudioStore({
    maxBytes: config.scheduler.audio.max_bytes_total,
    maxBytesPerJob: config.scheduler.audio.max_bytes_per_job,
  });
  const events = createJobEvents({
    maxListeners: MAX_JOB_LISTENERS,
    onFault: (fault) => log.error({ err: fault }, 'a listener of job events failed'),
  });

  // Cold path: who the nodes are. It tells selection and the engine what changed.
  const fleet = createFleetView();
  const sockets = createNodeSockets({ clock });
  const registry = createNodeRegistry({
    clock,
    chance,
    ids,
    ledger,
    directory,
    meter,
    log,
    settings: managementSettings(config),
    events: {
      changed: (view) => fleet.upsert(view),
      loaded(nodeId, load) {
        fleet.setLoad(nodeId, load);
        fleet.beat(nodeId, clock.now());
      },
      removed(nodeId) {
        fleet.remove(nodeId);
        mailbox
          .forget(nodeId)
          .catch((fault: unknown) => log.warn({ node_id: nodeId, err: fault }, 'a mailbox was not emptied'));
      },
      statusChanged: (nodeId, health, reason) => sockets.pushStatus(nodeId, health, reason),
      ordered: (nodeId, order) => sockets.order(nodeId, order),
      disconnected: (nodeId, graceMs) => jobs.nodeLeft(nodeId, graceMs),
      connected: (nodeId, runningJobIds) => jobs.nodeReturned(nodeId, runningJobIds),
    },
  });

  // Hot path: jobs onto nodes.
  const audioTokens = createAudioTokens({ secret: randomBytes(32) });
  const references = createAudioReferences({
    tokens: audioTokens,
    inlineMaxBytes: config.scheduler.audio.inline_max_bytes,
  });
  const endpoints = createEndpointCaller({ networks: createNetworks(config.server.endpoint_networks) });
  const link = createNodeLink({
    sockets,
    mailbox,
    endpoints,
    find: (nodeId) => registry.get(nodeId),
    audio,
    references,
    clock,
    log,
    settings: { endpointTimeoutMs: config.scheduler.ack_timeout_ms },
  });
  const jobs = createJobService({
    clock,
    chance: config.scheduler.candidate_shuffle ? chance : NO_CHANCE,
    ids,
    ledger,
    store,
    events: {
      publish(job) {
        events.publish(job);
        sessions.jobMoved(job);
      },
      subscribe: events.subscribe,
    },
    audio,
    link,
    meter,
    log,
    fleet,
    settings: jobServiceSettings(config),
    nodes: {
      profile: (nodeId) => fleet.view(nodeId)?.profile,
      placed: (nodeId) => registry.recordPlacement(nodeId),
      outcome: (nodeId, outcome) => registry.recordOutcome(nodeId, outcome),
      modelNotAvailable: (nodeId, details) =>
        log.info(
          { node_id: nodeId, service_id: details.service_id },
          'a node lacks a model it was asked for',
        ),
    },
  });
  const reader = createJobReader({ clock, store, events });

  // Sessions: speech becomes jobs, and their outcomes leave in order.
  const sessions = createSessionService({
    clock,
    chance,
    ids,
    audio,
    meter,
    log,
    jobs,
    pools: NO_POOLS,
    settings: sessionSettings(config),
  });

  // The edges.
  let isDraining = false;
  let isLeaving = false;
  const gate = createGate({ clock, meter, settings: accessSettings(config) });
  const http = createHttpServer({
    registry,
    jobs,
    reader,
    sessions,
    mailbox,
    endpoints,
    gate,
    ids,
    meter,
    log,
    clock,
    audio: { store: audio, tokens: audioTokens },
    metrics: meter,
    readiness: () => (isDraining ? NOT_READY : READY),
    usedSlots: (nodeId) => fleet.load(nodeId)?.used,
    settings: httpSettings(config, VERSION),
  });
  const socketServer = createSocketServer({
    server: http.app.server,
    registry,
    jobs,
    gate,
    sockets,
    meter,
    log,
    clock,
    ids,
    // Nodes may come back while their last jobs end: with them come the results.
    isDraining: () => isLeaving,
    onPartial: (nodeId, { job_id, text, is_final }) => sessions.partial(job_id, text, is_final, nodeId),
    session: createSessionRoute({
      sessions,
      gate,
      ids,
      clock,
      meter,
      log,
      isDraining: () => isDraining,
      initDeadlineMs: SESSION_INIT_DEADLINE_MS,
      maxMessageBytes: config.server.limits.max_message_bytes,
    }),
    settings: socketSettings(config),
  });

  meter.onPrint(createPrintGauges({ meter, jobs, sessions, store, events, mailbox, audio, http, loop }));

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
    drainTimeoutMs: config.server.drain_timeout_ms,
    drains: () => {
      isDraining = true;
    },
    leaves: () => {
      isLeaving = true;
    },
  });
  let stopping: Promise<void> | undefined;

  function serveAudio(address: AddressInfo): void {
    const base = audioBaseUrl(config.server.advertise_url, address);
    if (base === undefined) log.info({}, NO_AUDIO_BY_REFERENCE);
    else references.serveAt(base);
  }

  return {
    jobs,
    sessions,
    reader,
    registry,
    async start() {
      const address = await http.listen({ host: config.server.host, port: config.server.port });
      log.info(
        { host: address.address, port: address.port, mode: 'embedded', version: VERSION },
        'listening',
      );
      serveAudio(address);
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
const NO_AUDIO_BY_REFERENCE =
  'audio goes to every node inline: nodes cannot know at which address they reach this instance; set server.advertise_url';
const READY = { isReady: true, reasons: [] };
const NOT_READY = { isReady: false, reasons: [DRAINING] };
