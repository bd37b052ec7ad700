/** The options of a GPU node, and their defaults. */
import type { SecureContextOptions } from 'node:tls';
import {
  type JobAssign,
  type JobResult,
  type NodeRegister,
  type NodeToScheduler,
  nearest,
  type ResourceUsage,
  SERVICE_TYPES,
} from '@lingua/protocol';
import { BACKOFF_LIMITS, type BackoffLimits } from './connection/backoff.ts';

/** Protocol extensions that this SDK supports by itself. */
export const NODE_EXTENSIONS = ['job_ack', 'audio_ref', 'drain', 'cancel_ack'] as const;
/**
 * These depend on the job handler. `text_input`: it works on `job.input_text` where a job has one. `stage_results`: it tells
 * the final texts of a job by `texts` before it makes the voice. `interim`: it recognises speech whose
 * end is not known yet, and translates what was
 * recognised of it, in jobs that consist of one stage. `glossary`: it uses the terms of `job.glossary`, and says which in `glossary_used`.
 */
export type NodeExtension =
  | (typeof NODE_EXTENSIONS)[number]
  | 'text_input'
  | 'stage_results'
  | 'interim'
  | 'glossary';

/** The capabilities of the node, with the field names of node_register; absent fields get a default or are omitted. */
export type NodeCapabilities = Partial<
  Pick<
    NodeRegister,
    | 'version'
    | 'platform'
    | 'hardware'
    | 'capability_schema_version'
    | 'installed_models'
    | 'installed_services'
    | 'capability_by_type'
    | 'capability_state'
    | 'language_capabilities'
    | 'features_supported'
    | 'advanced_features'
    | 'accept_public_jobs'
    | 'region'
    | 'zone'
  >
>;

/** The result of a job; the SDK adds ids and times. */
export type JobOutput = Omit<
  JobResult,
  | 'type'
  | 'job_id'
  | 'attempt_id'
  | 'node_id'
  | 'session_id'
  | 'utterance_index'
  | 'trace_id'
  | 'success'
  | 'error'
  | 'group_id'
  | 'part_index'
  | 'processing_time_ms'
  | 'node_completed_at_ms'
  | 'tts_audio'
> & {
  /** Bytes, or base64. */
  readonly tts_audio?: Uint8Array | string;
};

export interface JobTexts {
  readonly text_asr?: string | undefined;
  readonly text_translated?: string | undefined;
}

export interface JobContext {
  /** Sends the text recognised so far. */
  readonly partial: (text: string, isFinal?: boolean) => void;
  /**
   * Tells the final texts before the voice is made, if the node supports `stage_results`; clients need not wait for the sound. The result has
   * the same texts.
   */
  readonly texts: (texts: JobTexts) => void;
  /** Aborted when the job is cancelled, its deadline passes, or the node stops; the reason is a JobError. */
  readonly signal: AbortSignal;
  /** The audio of the utterance, inline or fetched; fetched at most once. */
  readonly audio: () => Promise<Buffer>;
}

export type JobHandler = (job: JobAssign, context: JobContext) => JobOutput | Promise<JobOutput>;

export type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;
/** Compatible with pino. */
export interface NodeLog {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

export interface NodeTimings extends BackoffLimits {
  readonly connectTimeoutMs: number;
  readonly registerTimeoutMs: number;
  /** After two intervals without any traffic the connection is closed. */
  readonly pingIntervalMs: number;
  /** Used when the scheduler does not name an interval. */
  readonly heartbeatIntervalMs: number;
  readonly audioTimeoutMs: number;
  /** How often `leavingInMs` is asked. */
  readonly noticeIntervalMs: number;
}

export interface NodeLimits {
  readonly maxAudioBytes: number;
  readonly maxMessageBytes: number;
  readonly maxBufferedBytes: number;
  /** Results kept until they are delivered. */
  readonly maxKeptResults: number;
  readonly maxKeptBytes: number;
  /** Results remembered in case the same job is sent again. */
  readonly maxRememberedResults: number;
  readonly maxRememberedBytes: number;
}

export interface NodeOptions {
  /** For example ws://127.0.0.1:5010/ws/node. */
  readonly url: string;
  readonly token?: string | undefined;
  /** For wss://: authorities in place of those of the system, and a certificate that the scheduler may know the node by instead of a token. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'> | undefined;
  /** Absent: the scheduler assigns one, and the node keeps it until it stops. */
  readonly nodeId?: string | undefined;
  /** Further jobs are refused. */
  readonly maxConcurrentJobs: number;
  /** A function is called at each heartbeat, and changes are sent to the scheduler. */
  readonly capabilities: NodeCapabilities | (() => NodeCapabilities);
  /** Default: those that need nothing of the job handler. */
  readonly supports?: readonly NodeExtension[];
  /** Absent: CPU and memory of this machine. */
  readonly resources?: () => Omit<ResourceUsage, 'running_jobs'> & { running_jobs?: number };
  readonly onJob: JobHandler;
  /** The node was ordered to drain; it accepts no more jobs. */
  readonly onDrain?: (reason: string | undefined) => void | Promise<void>;
  /**
   * Asked every second: in how many milliseconds the machine is taken away, for example from the metadata of the cloud; undefined: not known
   * to be. Then the node accepts no more jobs, and what it cannot finish in time moves to other nodes at once.
   */
  readonly leavingInMs?: (() => number | undefined | Promise<number | undefined>) | undefined;
  /** The state of the node at the scheduler; `offline` while there is no connection. */
  readonly onStatus?: (status: string, reason: string | undefined) => void;
  /**
   * Commands of the scheduler that the SDK does not execute itself: `reload_config`, and `shutdown` after it was
   * executed.
   */
  readonly onCommand?: (command: string, reason: string | undefined) => void | Promise<void>;
  /** Default: warnings and errors are written to the console. */
  readonly log?: NodeLog | undefined;
  readonly timings?: Partial<NodeTimings>;
  readonly limits?: Partial<NodeLimits>;
  /** For tests and simulations. */
  readonly chance?: () => number;
  /** For tests and simulations: replaces each message about a job. */
  readonly tamper?: (message: NodeToScheduler) => readonly NodeToScheduler[];
}

export const NODE_TIMINGS: NodeTimings = {
  ...BACKOFF_LIMITS,
  connectTimeoutMs: 10_000,
  registerTimeoutMs: 10_000,
  // The scheduler waits two seconds for a lost node; pings are for connections that no side closed.
  pingIntervalMs: 5_000,
  heartbeatIntervalMs: 15_000,
  audioTimeoutMs: 10_000,
  noticeIntervalMs: 1_000,
};

export const NODE_LIMITS: NodeLimits = {
  maxAudioBytes: 32 * 1024 * 1024,
  maxMessageBytes: 64 * 1024 * 1024,
  maxBufferedBytes: 8 * 1024 * 1024,
  maxKeptResults: 1_000,
  maxKeptBytes: 64 * 1024 * 1024,
  maxRememberedResults: 200,
  maxRememberedBytes: 16 * 1024 * 1024,
};

/** Invalid options are a programming error, so they throw immediately. */
export function checkOptions(options: NodeOptions): void {
  const scheme = URL.canParse(options.url) ? new URL(options.url).protocol : undefined;
  if (scheme !== 'ws:' && scheme !== 'wss:')
    throw new TypeError('url must start with ws:// or wss://, such as ws://127.0.0.1:5010/ws/node');
  if (options.token !== undefined && !/^[\x21-\x7e]+$/.test(options.token))
    throw new TypeError('token must have only visible ASCII characters: it is sent in a header');
  const { cert, key } = options.tls ?? {};
  if ((cert === undefined) !== (key === undefined))
    throw new TypeError('tls.cert and tls.key belong together: give both or neither');
  if (options.tls !== undefined && scheme !== 'wss:')
    throw new TypeError('tls is for a url that starts with wss://');
  const max = options.maxConcurrentJobs;
  if (!Number.isInteger(max) || max < 1 || max > 10_000)
    throw new TypeError('maxConcurrentJobs must be a whole number from 1 to 10000');
  if (typeof options.onJob !== 'function') throw new TypeError('onJob must be a function');
}

/** The scheduler accepts any type, so a misspelt one would only mean that the node never gets a job. */
export function checkServiceTypes({
  capability_by_type = [],
  installed_services = [],
}: NodeCapabilities): void {
  const known: readonly string[] = SERVICE_TYPES;
  for (const { type } of [...capability_by_type, ...installed_services]) {
    if (type === undefined || known.includes(type)) continue;
    const near = nearest(type.toLowerCase(), known);
    const advice = near === undefined ? `the known ones are ${known.join(', ')}` : `did you mean "${near}"?`;
    throw new TypeError(`the capabilities name the unknown service type "${type}"; ${advice}`);
  }
}
