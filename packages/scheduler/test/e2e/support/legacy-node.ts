/**
 * A legacy GPU node with raw frames and the habits that docs/protocol.md documents in its last section. It sends only
 * required messages; the test decides how it handles a job.
 */

import { onTestFinished } from 'vitest';
import WebSocket, { type ClientOptions } from 'ws';
import { eventually } from '../../support/eventually.ts';

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Assigned extends Frame {
  readonly job_id: string;
  readonly attempt_id: number;
  readonly session_id: string;
  readonly utterance_index: number;
  readonly trace_id: string;
  readonly audio: string;
}

export interface LegacyNodeOptions {
  readonly url: string;
  /** Absent: null on the wire, and the scheduler assigns one. */
  readonly nodeId?: string;
  readonly languages?: readonly string[];
  /** Legacy nodes wait five seconds. */
  readonly reconnectMs?: number;
  /** Its answer; undefined: none. Absent: it translates. */
  readonly answer?: (job: Assigned, node: LegacyNode) => Record<string, unknown> | undefined;
  /** Overrides fields of the registration. */
  readonly registration?: Record<string, unknown>;
  readonly socket?: ClientOptions;
}

export interface LegacyNode {
  /** All frames of the scheduler, oldest first. */
  readonly frames: readonly Frame[];
  /** Accepted jobs. */
  readonly jobs: readonly Assigned[];
  /** Jobs dropped because they came before the acknowledgement of the registration. */
  readonly early: readonly Frame[];
  nodeId(): string | undefined;
  connections(): number;
  closeCode(): number | undefined;
  isOpen(): boolean;
  send(frame: Record<string, unknown>): void;
  /** `runningJobs`: the jobs whose speech it is recognising. */
  beat(runningJobs?: number): void;
  /** Sends a result for a job now. */
  reply(job: Assigned, fields: Record<string, unknown>): void;
  /** Breaks the connection. */
  drop(): void;
  registered(): Promise<LegacyNode>;
  next(type: string, after?: number): Promise<Frame>;
  job(count?: number): Promise<Assigned>;
}

const TYPES = ['asr', 'nmt', 'tts', 'semantic'];
export const TRANSLATED = {
  success: true,
  text_asr: 'hello',
  text_translated: '你好',
  tts_audio: '',
  tts_format: '',
};

export function connectLegacyNode(options: LegacyNodeOptions): LegacyNode {
  const { languages = ['en', 'zh'], reconnectMs = 50, answer = () => TRANSLATED } = options;
  const frames: Frame[] = [];
  const jobs: Assigned[] = [];
  const early: Frame[] = [];
  const seenJobs = new Set<string>();
  const seenUtterances = new Set<string>();
  let nodeId = options.nodeId;
  let isRegistered = false;
  let opened = 0;
  let closeCode: number | undefined;
  let isEnded = false;
  let socket = open();

  function open(): WebSocket {
    const ws = new WebSocket(options.url, options.socket);
    ws.on('open', () => {
      opened += 1;
      // Its heartbeat timer keeps running after the loss of the connection.
      if (opened > 1) beat();
      register();
    });
    ws.on('message', (data) => receive(JSON.parse(data.toString()) as Frame));
    ws.on('error', () => {});
    ws.on('close', (code) => {
      closeCode = code;
      isRegistered = false;
      // It reconnects once, and never again.
      if (opened === 1 && !isEnded) setTimeout(reopen, reconnectMs);
    });
    return ws;
  }

  function reopen(): void {
    if (!isEnded) socket = open();
  }

  onTestFinished(() => {
    isEnded = true;
    socket.terminate();
  });

  const send = (frame: Record<string, unknown>): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  };

  const abilities = {
    installed_models: [],
    installed_services: TYPES.map((type) => ({
      service_id: `${type}-service`,
      type,
      device: 'gpu',
      status: 'running',
      version: '2.0.0',
      model_id: null,
      engine: null,
      mem_mb: null,
      warmup_ms: null,
      last_error: null,
    })),
    capability_by_type: TYPES.map((type) => ({ type, ready: true, devices: ['gpu'] })),
    language_capabilities: {
      asr_languages: languages,
      tts_languages: languages,
      semantic_languages: languages,
      semantic_core_ready: true,
    },
  };

  function register(): void {
    send({
      type: 'node_register',
      node_id: nodeId ?? null,
      version: '2.0.0',
      capability_schema_version: '2.0',
      platform: 'windows',
      hardware: { cpu_cores: 16, memory_gb: 32, gpus: [{ name: 'NVIDIA RTX 4060', memory_gb: 8 }] },
      ...abilities,
      features_supported: { emotion_detection: false },
      advanced_features: null,
      accept_public_jobs: true,
      ...options.registration,
    });
  }

  function beat(runningJobs = 0): void {
    send({
      type: 'node_heartbeat',
      node_id: nodeId ?? '',
      timestamp: Date.now(),
      resource_usage: {
        cpu_percent: 12.5,
        gpu_percent: null,
        gpu_mem_percent: -1,
        mem_percent: 40,
        running_jobs: runningJobs,
      },
      ...abilities,
      installed_models: null,
      rerun_metrics: null,
    });
  }

  /** Ignores node_status, node_control, job_cancel and error. */
  function receive(frame: Frame): void {
    frames.push(frame);
    if (frame.type === 'node_register_ack') {
      nodeId = frame.node_id as string;
      isRegistered = true;
      beat();
    } else if (frame.type === 'job_assign') {
      if (isRegistered) take(frame as Assigned);
      else early.push(frame);
    }
  }

  function take(job: Assigned): void {
    const flaw = repetition(job) ?? flawOf(job);
    if (flaw !== undefined) node.reply(job, failure(flaw));
    if (flaw !== undefined || job.is_manual_cut !== true) return;
    const result = answer(job, node);
    if (result !== undefined) node.reply(job, result);
  }

  /** Remembers jobs until the process ends. */
  function repetition(job: Assigned): string | undefined {
    const utterance = `${job.session_id} ${job.utterance_index}`;
    if (seenJobs.has(job.job_id)) return 'DUPLICATE_JOB_ID';
    if (seenUtterances.has(utterance)) return 'DUPLICATE_UTTERANCE_INDEX';
    seenJobs.add(job.job_id);
    seenUtterances.add(utterance);
    jobs.push(job);
    return undefined;
  }

  const node: LegacyNode = {
    frames,
    jobs,
    early,
    nodeId: () => nodeId,
    connections: () => opened,
    closeCode: () => closeCode,
    isOpen: () => socket.readyState === WebSocket.OPEN,
    send,
    beat,
    reply: (job, fields) =>
      send({
        type: 'job_result',
        job_id: job.job_id,
        attempt_id: job.attempt_id,
        node_id: nodeId,
        session_id: job.session_id,
        utterance_index: job.utterance_index,
        trace_id: job.trace_id,
        processing_time_ms: 12,
        ...fields,
      }),
    drop: () => socket.terminate(),
    registered: () => eventually(() => isRegistered && node),
    next: (type, after = 0) => eventually(() => frames.slice(after).find((frame) => frame.type === type)),
    job: (count = 1) => eventually(() => jobs[count - 1]),
  };
  return node;
}

export const failure = (message: string, code = 'PROCESSING_ERROR'): Record<string, unknown> => ({
  success: false,
  error: { code, message, details: null },
});

function flawOf(job: Assigned): string | undefined {
  if (job.audio === '') return 'Opus decoding failed: no audio';
  return job.audio_format === 'wav' ? 'Unsupported audio format: wav' : undefined;
}

const OMISSION_MS = 1_000;

/** Sends heartbeats without a running job until the condition holds; of those within one second the scheduler counts one. */
export async function beatIdleUntil(
  node: LegacyNode | undefined,
  check: () => boolean | Promise<boolean>,
): Promise<void> {
  let at = 0;
  await eventually(() => {
    if (Date.now() - at >= OMISSION_MS) {
      at = Date.now();
      node?.beat(0);
    }
    return check();
  });
}
