/** The services behind the routes of the HTTP server, and its settings. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import type { CancelService, NodeReportService } from '../../../cluster/driver/receive-reports.ts';
import type { CloseSession } from '../../../cluster/operators/close-session.ts';
import type { ClusterReader } from '../../../cluster/operators/cluster-reader.ts';
import type { Erasure } from '../../../cluster/operators/erasure.ts';
import type { DeadLetterService } from '../../../cluster/recovery/dead-letter-service.ts';
import type { JobId, NodeId } from '../../../domain/ids.ts';
import type { PlanRunner } from '../../../domain/plan.ts';
import type { CoreServices } from '../../../domain/requirements.ts';
import type { NodeRegistry } from '../../../management/node-registry.ts';
import type { StatsReading } from '../../../management/stats/stats-service.ts';
import type { AudioStore } from '../../../ports/audio-store.ts';
import type { AuditLog } from '../../../ports/audit-log.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EndpointCaller } from '../../../ports/endpoint-caller.ts';
import type { GlossaryStore } from '../../../ports/glossary-store.ts';
import type { IdSource } from '../../../ports/id-source.ts';
import type { Log } from '../../../ports/log.ts';
import type { Meter, MeterReader } from '../../../ports/meter.ts';
import type { NodeMailbox } from '../../../ports/node-mailbox.ts';
import type { RecentAttempts } from '../../../runtime/attempts/recent-attempts.ts';
import type { Explain } from '../../../runtime/explain/create-explainer.ts';
import type { ExplainPlan } from '../../../runtime/explain/explain-plan.ts';
import type { OfferLanguages } from '../../../runtime/explain/offer-languages.ts';
import type { PoolsReading } from '../../../runtime/explain/read-pools.ts';
import type { JobReader } from '../../../runtime/job-reader.ts';
import type { JobService } from '../../../runtime/job-service.ts';
import type { FleetPlanner } from '../../../runtime/stages/fleet-plan.ts';
import type { Quotas } from '../../../runtime/usage/quotas.ts';
import type { ReadUsage } from '../../../runtime/usage/read-usage.ts';
import type { RoomService } from '../../../session/rooms/room-service.ts';
import type { SessionService } from '../../../session/session-service.ts';
import type { AudioTokens } from '../../access/audio-tokens.ts';
import type { Gate } from '../../access/gate.ts';
import type { InstanceSignature } from '../../access/instance-signature.ts';
import type { ServerCertificate } from '../connections/listening-server.ts';
import type { NodeCounts } from '../views/cluster-page-view.ts';
import type { MeasuredFacts } from '../views/metrics-view.ts';
import type { RemoteNodes } from '../views/remote-nodes.ts';
import type { LiveServices } from '../watch/live-routes.ts';
import type { WatchServices } from '../watch/watch-routes.ts';

/** As a reason: the instance finishes its work and accepts no more. */
export const DRAINING = 'draining';

export interface Readiness {
  readonly isReady: boolean;
  readonly reasons: readonly string[];
}

export interface HttpSettings {
  readonly maxBodyBytes: number;
  /** Of nodes' results and registrations. */
  readonly maxNodeBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** Connections with a request in progress. */
  readonly maxConnections: number;
  readonly maxIdleConnections: number;
  readonly maxIdleConnectionsPerAddress: number;
  /** CIDR. Proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxies: readonly string[];
  /** Open waits of one kind (waits.ts); above it they are refused. */
  readonly maxWaits: number;
  /** Interval of the comments that keep an event stream open. */
  readonly eventHeartbeatMs: number;
  /** Origins whose pages may read replies; `*`: all. */
  readonly corsOrigins: readonly string[];
  /** One log line per request, at debug. */
  readonly logsRequests: boolean;
  readonly hasDocs: boolean;
  /** Where the built console is; absent: none is served. */
  readonly consoleFolder?: string | undefined;
  /** What a proxy leaves in front of every path; empty, or with a leading and without a trailing slash. */
  readonly basePath: string;
  readonly coreServices: CoreServices;
  readonly version?: string;
  readonly instanceId?: string;
}

export const HTTP_DEFAULTS: HttpSettings = {
  maxBodyBytes: 2 * 1024 * 1024,
  maxNodeBodyBytes: 8 * 1024 * 1024,
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 72_000,
  maxConnections: 20_000,
  maxIdleConnections: 5_000,
  maxIdleConnectionsPerAddress: 2_000,
  trustedProxies: [],
  maxWaits: 10_000,
  eventHeartbeatMs: 15_000,
  corsOrigins: [],
  logsRequests: false,
  hasDocs: true,
  basePath: '',
  coreServices: {},
};

/** Reads the configuration file again, and applies a part of it. */
export type Reload = () => Promise<
  | {
      readonly kind: 'reloaded';
      /** The pools are others. */
      readonly hasChanged: boolean;
      readonly hasChangedCredentials: boolean;
      readonly poolCount: number;
      readonly needRestart: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  | { readonly kind: 'unavailable' }
>;

/** Reads the fleet; changes nothing and waits for nothing. */
export interface ExplainServices {
  readonly explain: Explain;
  readonly explainPlan: ExplainPlan;
  readonly offerLanguages: OfferLanguages;
  readonly readPools: () => PoolsReading;
  /** The settings of the pools in force. */
  readonly poolSettings: () => object;
}

export interface PlanServices {
  readonly runner: PlanRunner;
  readonly planOf: FleetPlanner;
  /** From the request to the end of all its jobs. */
  readonly deadlineMs: number;
}

export interface HttpServices {
  readonly registry: Pick<NodeRegistry, 'register' | 'heartbeat' | 'control' | 'get' | 'list'>;
  /** Absent: there is only one instance. */
  readonly remoteNodes?: RemoteNodes;
  readonly jobs: Pick<JobService, 'dispatch'> & Omit<NodeReportService, 'tell'> & CancelService;
  readonly reader: JobReader;
  /** Requests for several languages, or whose stages no single node has. Absent: they are refused. */
  readonly plans?: PlanServices;
  /** Receives recognised text while a node is still working on the job. */
  readonly onPartial: (jobId: JobId, text: string, isFinal: boolean, nodeId: NodeId) => void;
  readonly sessions: Pick<SessionService, 'list' | 'close'>;
  /** Closes a session on the instance that has it. Absent: there is only one instance. */
  readonly closeSession?: CloseSession;
  /** Absent: nothing can be erased over HTTP. */
  readonly erasure?: Erasure;
  /** Erases a result after a client has read it. Absent: results are kept for their retention. */
  readonly eraseDelivered?: ((jobId: JobId) => void) | undefined;
  /** Of the jobs that this instance drives. */
  readonly recentAttempts: Pick<RecentAttempts, 'of'>;
  readonly mailbox: Pick<NodeMailbox<JobAssign | JobCancel>, 'take'>;
  readonly endpoints: Pick<EndpointCaller, 'permits'>;
  readonly gate: Gate;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly log: Log;
  readonly audit: AuditLog;
  readonly clock: Clock;
  /** Called at every dispatch: it must be cheap. */
  readonly readiness: () => Readiness;
  /** Absent: this instance serves no audio. */
  readonly audio?: {
    readonly store: Pick<AudioStore, 'get'>;
    readonly tokens: Pick<AudioTokens, 'opens'>;
    /** Absent: other instances fetch with a token, like nodes. */
    readonly signature?: Pick<InstanceSignature, 'accepts'> | undefined;
  };
  /** Absent: instances and dead letters are not shown. */
  readonly cluster?: { readonly reader: ClusterReader; readonly deadLetters: DeadLetterService };
  /** Absent: there are no rooms. */
  readonly rooms?: RoomService;
  /** Absent: there is no live feed. */
  readonly live?: LiveServices;
  /** Absent: the pages of the console have nothing to read. */
  readonly watch?: WatchServices;
  /** Absent: decisions are not explained. */
  readonly explainServices?: ExplainServices;
  /** Absent: nothing can be reloaded over HTTP. `all`: pools and credentials. */
  readonly reload?: { readonly pools: Reload; readonly all: Reload };
  /** Absent: no statistics are shown. Answers from memory. */
  readonly stats?: { readonly read: () => StatsReading };
  /** Absent: no tenant has a quota. */
  readonly quotas?: Pick<Quotas, 'reached' | 'read'> | undefined;
  /** Absent: there are none. */
  readonly glossaries?: GlossaryStore;
  /** Absent: usage is not shown. */
  readonly readUsage?: ReadUsage;
  readonly metrics?: {
    readonly contentType: string;
    print(): Promise<string>;
    /** Absent: metrics are not available as JSON. */
    readonly measured?: { read(): MeterReader; facts(): MeasuredFacts };
  };
  /** Leases held on a node; absent: the node's last report is shown. */
  readonly usedSlots?: (nodeId: NodeId) => number | undefined;
  /** Of the nodes of all instances. */
  readonly nodeCounts?: () => NodeCounts;
  /** Absent: without TLS. */
  readonly certificate?: ServerCertificate | undefined;
  readonly settings: HttpSettings;
}
