/** Composition root: the servers of an instance: HTTP and sockets. */
import { hostname } from 'node:os';
import type { JobAssign, JobCancel } from '@lingua/protocol';
import { VERSION } from '../cli/version.ts';
import type { ForwardReports } from '../cluster/holder/forward-reports.ts';
import type { Erasure } from '../cluster/operators/erasure.ts';
import type { Config } from '../config/settings.ts';
import type { Tenancy } from '../domain/tenancy.ts';
import type { NodeRegistry } from '../management/node-registry.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { EndpointCaller } from '../ports/endpoint-caller.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Log } from '../ports/log.ts';
import type { NodeMailbox } from '../ports/node-mailbox.ts';
import type { SlowWatch } from '../ports/slow-watch.ts';
import type { RecentAttempts } from '../runtime/attempts/recent-attempts.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import { createPlanExplainer } from '../runtime/explain/explain-plan.ts';
import { createLanguageOffer } from '../runtime/explain/offer-languages.ts';
import { readPools } from '../runtime/explain/read-pools.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import type { JobReader } from '../runtime/job-reader.ts';
import type { Rooms } from '../session/rooms/create-rooms.ts';
import type { SessionService } from '../session/session-service.ts';
import { createGate } from '../transport/access/create-gate.ts';
import { watchCredentials } from '../transport/access/watch-credentials.ts';
import { createHttpServer } from '../transport/http/server/create-http-server.ts';
import { DRAINING, type HttpServices } from '../transport/http/server/http-services.ts';
import type { NodeSockets } from '../transport/ws/node-sockets.ts';
import { createSessionRoute } from '../transport/ws/session-route.ts';
import { createSocketServer } from '../transport/ws/socket-server.ts';
import type { BackgroundServices } from './background-services.ts';
import type { Core } from './create-core.ts';
import type { MultiInstance } from './multi-instance.ts';
import { setLimitGauges } from './observing/gauges.ts';
import type { ConfiguredPools } from './pools.ts';
import { coreIdsOf } from './settings/pool-plan.ts';
import {
  accessSettings,
  gateCredentials,
  httpSettings,
  jobServiceSettings,
  socketSettings,
} from './settings/settings-from-config.ts';

const SESSION_INIT_DEADLINE_MS = 60_000;

export function createServers(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly meter: HttpServices['meter'];
  readonly metrics: NonNullable<HttpServices['metrics']>;
  readonly slow: SlowWatch;
  readonly log: Log;
  readonly audit: AuditLog;
  readonly registry: NodeRegistry;
  readonly jobs: RunningJobService;
  /** Forwards reports of jobs that other instances drive; absent in a single instance. */
  readonly reports: ForwardReports | undefined;
  readonly reader: JobReader;
  readonly plans: Core['plans'];
  readonly planOf: Core['planOf'];
  readonly dispatch: Core['dispatch'];
  readonly quotas: Core['quotas'];
  readonly require: Core['require'];
  readonly glossaries: Core['glossaries'];
  readonly onPartial: Core['onPartial'];
  readonly erasure: Erasure;
  readonly eraseDelivered: Core['eraseDelivered'];
  readonly webhooks: Pick<Core['webhooks'], 'changeTo'>;
  readonly recentAttempts: RecentAttempts;
  readonly sessions: SessionService;
  readonly rooms: Rooms;
  readonly mailbox: NodeMailbox<JobAssign | JobCancel>;
  readonly endpoints: EndpointCaller;
  readonly sockets: NodeSockets;
  readonly fleet: FleetView;
  readonly audio: NonNullable<HttpServices['audio']>;
  readonly multiInstance: MultiInstance | undefined;
  readonly tenancy: Tenancy;
  readonly cluster: NonNullable<HttpServices['cluster']>;
  readonly live: NonNullable<HttpServices['live']>;
  readonly watch: NonNullable<HttpServices['watch']>;
  /** Undefined: without TLS. */
  readonly certificate: HttpServices['certificate'];
  readonly readUsage: NonNullable<HttpServices['readUsage']>;
  readonly backgroundServices: Pick<BackgroundServices, 'stats'>;
  readonly pools: Pick<ConfiguredPools, 'reload' | 'effective'>;
}) {
  const { config, clock, ids, meter, log, registry, jobs, reports, sessions, multiInstance } = parts;
  const phase = { isDraining: false, isLeaving: false };
  setLimitGauges(meter, config);
  const gate = watchCredentials(
    createGate({ clock, meter, tenancy: parts.tenancy, settings: accessSettings(config, hostname()) }),
    {
      clock,
      meter,
      audit: parts.audit,
      maxUnknownPerMinute: config.server.limits.max_unknown_tokens_per_minute,
    },
  );

  /**
   * Tokens that were revoked, or have other rights now, lose their sockets, waits, event streams and nodes at once. A node is removed
   * also if it has a socket, because a peer may take its time to close that.
   */
  function changeCredentials(to: Config): void {
    parts.webhooks.changeTo(to);
    const ended = gate.changeCredentials(gateCredentials(to));
    const foreign = [...allNodes(registry)].filter((node) => !gate.mayKeepNode(node));
    for (const { nodeId } of foreign)
      void registry.control(nodeId, 'remove').catch((err: unknown) => {
        log.error({ node_id: nodeId, err }, 'could not remove a node whose token was revoked');
      });
    log.info({ sockets_and_waits_ended: ended, nodes_removed: foreign.length }, 'changed the tokens');
  }

  const http = createHttpServer({
    registry,
    ...(multiInstance !== undefined && {
      remoteNodes: multiInstance.holders(parts.recentAttempts),
      closeSession: multiInstance.closeSession,
    }),
    recentAttempts: parts.recentAttempts,
    jobs: { ...(reports?.byRequest ?? jobs), dispatch: parts.dispatch },
    quotas: parts.quotas,
    glossaries: parts.glossaries,
    reader: parts.reader,
    plans: {
      runner: parts.plans,
      planOf: parts.planOf,
      deadlineMs: jobServiceSettings(config).jobDeadlineMs,
    },
    erasure: parts.erasure,
    eraseDelivered: parts.eraseDelivered,
    sessions,
    onPartial: parts.onPartial,
    mailbox: parts.mailbox,
    endpoints: parts.endpoints,
    gate,
    ids,
    meter,
    log,
    audit: parts.audit,
    clock,
    audio: parts.audio,
    cluster: parts.cluster,
    live: parts.live,
    watch: parts.watch,
    stats: parts.backgroundServices.stats,
    readUsage: parts.readUsage,
    rooms: parts.rooms.service,
    reload: {
      pools: parts.pools.reload,
      all: () => parts.pools.reload(changeCredentials),
    },
    explainServices: {
      explain: jobs.explain,
      explainPlan: createPlanExplainer({
        planOf: parts.planOf,
        explain: jobs.explain,
        require: parts.require,
      }),
      offerLanguages: createLanguageOffer({ fleet: parts.fleet, planOf: parts.planOf }),
      readPools: () => readPools(parts.fleet, coreIdsOf(config)),
      poolSettings: parts.pools.effective,
    },
    metrics: parts.metrics,
    readiness: () => (phase.isDraining ? NOT_READY : (multiInstance?.readiness() ?? READY)),
    certificate: parts.certificate,
    usedSlots: (nodeId) => parts.fleet.load(nodeId)?.used,
    nodeCounts: parts.fleet.counts,
    settings: httpSettings(config, VERSION, multiInstance?.instanceId),
  });

  const socketServer = createSocketServer({
    server: http.app.server,
    registry,
    jobs: reports?.bySocket ?? jobs,
    gate,
    sockets: parts.sockets,
    meter,
    log,
    clock,
    ids,
    // Nodes may reconnect while their last jobs end: they still have results to report.
    isDraining: () => phase.isLeaving,
    onPartial: parts.onPartial,
    session: createSessionRoute({
      sessions,
      rooms: parts.rooms.members,
      gate,
      ids,
      clock,
      meter,
      log,
      isDraining: () => phase.isDraining,
      initDeadlineMs: SESSION_INIT_DEADLINE_MS,
      maxMessageBytes: config.server.limits.max_message_bytes,
    }),
    settings: socketSettings(config),
    slow: parts.slow,
  });

  return { http, socketServer, phase, gate, changeCredentials };
}

function* allNodes(registry: Pick<NodeRegistry, 'list'>) {
  let cursor: string | undefined;
  do {
    const page = registry.list({ limit: 1_000, ...(cursor !== undefined && { cursor }) });
    for (const { view, credential } of page.nodes)
      yield { nodeId: view.nodeId, credential, binding: view.profile.binding };
    ({ cursor } = page);
  } while (cursor !== undefined);
}

const READY = { isReady: true, reasons: [] };
const NOT_READY = { isReady: false, reasons: [DRAINING] };
