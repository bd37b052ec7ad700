/** What the HTTP server is given: the services behind its routes, and its settings. */
import type { JobAssign } from '@lingua/protocol';
import type { CancelService, NodeReportService } from '../../../cluster/holder/remote-jobs.ts';
import type { ClusterReader } from '../../../cluster/operators/cluster-reader.ts';
import type { DeadLetterService } from '../../../cluster/recovery/dead-letter-service.ts';
import type { NodeId } from '../../../domain/ids.ts';
import type { CoreServices } from '../../../domain/requirements.ts';
import type { NodeRegistry } from '../../../management/node-registry.ts';
import type { StatsReading } from '../../../management/stats/stats-service.ts';
import type { AudioStore } from '../../../ports/audio-store.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EndpointCaller } from '../../../ports/endpoint-caller.ts';
import type { IdSource } from '../../../ports/id-source.ts';
import type { Log } from '../../../ports/log.ts';
import type { Meter, MeterReader } from '../../../ports/meter.ts';
import type { NodeMailbox } from '../../../ports/node-mailbox.ts';
import type { Explain } from '../../../runtime/explain/create-explainer.ts';
import type { PoolsReading } from '../../../runtime/explain/read-pools.ts';
import type { JobReader } from '../../../runtime/job-reader.ts';
import type { JobService } from '../../../runtime/job-service.ts';
import type { SessionService } from '../../../session/session-service.ts';
import type { AudioTokens } from '../../access/audio-tokens.ts';
import type { Gate } from '../../access/gate.ts';
import type { MeasuredFacts } from '../views/metrics-view.ts';
import type { NodesElsewhere } from '../views/nodes-elsewhere.ts';

/** Among `reasons` it means: finishing, takes nothing new. */
export const DRAINING = 'draining';

export interface Readiness {
  readonly isReady: boolean;
  readonly reasons: readonly string[];
}

export interface HttpSettings {
  readonly maxBodyBytes: number;
  /** Of results and registrations of nodes. */
  readonly maxNodeBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /** Long polls and event streams at once; above it they are refused. */
  readonly maxWaits: number;
  /** Time between the comments that keep an event stream open. */
  readonly eventHeartbeatMs: number;
  /** Origins whose pages may read answers; `*` = all. */
  readonly corsOrigins: readonly string[];
  /** One line per request at debug. */
  readonly logsRequests: boolean;
  readonly hasDocs: boolean;
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
  maxWaits: 10_000,
  eventHeartbeatMs: 15_000,
  corsOrigins: [],
  logsRequests: false,
  hasDocs: true,
  coreServices: {},
};

/** Takes over what the configuration says of pools by now. */
export interface PoolReload {
  reload(): Promise<
    | {
        readonly kind: 'reloaded';
        readonly hasChanged: boolean;
        readonly poolCount: number;
        readonly needRestart: readonly string[];
      }
    | { readonly kind: 'invalid'; readonly problems: readonly string[] }
    | { readonly kind: 'unavailable' }
  >;
}

/** Looks at the fleet as it is; none of it changes or waits for anything. */
export interface Explaining {
  readonly explain: Explain;
  readonly readPools: () => PoolsReading;
  /** The settings of pools that are in force. */
  readonly poolSettings: () => object;
}

export interface HttpServices {
  readonly registry: Pick<NodeRegistry, 'register' | 'heartbeat' | 'control' | 'get' | 'list'>;
  /** Absent: there is no other instance. */
  readonly elsewhere?: NodesElsewhere;
  /** Absent: no other instance asks this one directly. */
  readonly direct?: {
    /** What whoever asks has to present; undefined: nobody may ask. */
    key(): string | undefined;
    /** Undefined: not now. */
    answer(question: string): Promise<string | undefined>;
  };
  readonly jobs: Pick<JobService, 'dispatch'> & NodeReportService & CancelService;
  readonly reader: JobReader;
  readonly sessions: Pick<SessionService, 'list'>;
  readonly mailbox: Pick<NodeMailbox<JobAssign>, 'take'>;
  readonly endpoints: Pick<EndpointCaller, 'permits'>;
  readonly gate: Gate;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly log: Log;
  readonly clock: Clock;
  /** Asked at every dispatch: it must be cheap. */
  readonly readiness: () => Readiness;
  /** Absent: no audio is served from here. */
  readonly audio?: { readonly store: Pick<AudioStore, 'get'>; readonly tokens: Pick<AudioTokens, 'opens'> };
  /** Absent: the instances and their dead letters are not shown here. */
  readonly cluster?: { readonly reader: ClusterReader; readonly deadLetters: DeadLetterService };
  /** Absent: decisions are not explained here. */
  readonly explaining?: Explaining;
  /** Absent: pools cannot be read anew over HTTP. */
  readonly pools?: PoolReload;
  /** Absent: no statistics are shown here. It answers from memory. */
  readonly stats?: { readonly read: () => StatsReading };
  readonly metrics?: {
    readonly contentType: string;
    print(): Promise<string>;
    /** Absent: there is no JSON of them. */
    readonly measured?: { read(): MeterReader; facts(): MeasuredFacts };
  };
  /** Leases held on a node; without it, what the node last reported. */
  readonly usedSlots?: (nodeId: NodeId) => number | undefined;
  readonly settings: HttpSettings;
}
