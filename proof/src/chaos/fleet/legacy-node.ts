/** One process of a legacy node: raw frames, no acknowledgements, one reconnect, and a name that the scheduler gives it. */
import type { JobAssign, JobResult } from '@lingua/protocol';
import { createConnection } from '@lingua/sdk/node';
import {
  createLegacyJobs,
  legacyResult,
} from '../../../../packages/scheduler/dist/cli/simulated-node/legacy-jobs.js';
import { simulatedCapabilities } from '../../../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';

export interface LegacyNode {
  /** Or ended. */
  readonly registered: Promise<void>;
  /** It reconnected once, and will not again. */
  isGone(): boolean;
  reply(job: JobAssign, result: Partial<JobResult> & Pick<JobResult, 'success'>): void;
  close(): void;
}

const RECONNECT_MS = 5_000;
const BEAT_MS = 5_000;
/** These nodes do not watch their connection; the longest interval of a timer stands for never. */
const NEVER_MS = 2 ** 31 - 1;
/** The machine of the run may be busier than a node may be. */
const CALM = { cpu_percent: 10, gpu_percent: 10, gpu_mem_percent: -1, mem_percent: 10 };

export function connectLegacyNode(options: {
  readonly url: string;
  readonly token: string | undefined;
  readonly languages: readonly string[];
  /** A job that it accepts. */
  readonly onJob: (job: JobAssign) => void;
}): LegacyNode {
  const judged = createLegacyJobs();
  /** Jobs without a reply; the owner replies to each. */
  const running = new Set<string>();
  const abilities = simulatedCapabilities(options.languages, true);
  let nodeId: string | undefined;
  let isRegistered = false;
  let losses = 0;
  let resolveRegistered: () => void = () => {};
  const registered = new Promise<void>((resolve) => {
    resolveRegistered = resolve;
  });

  const connection = createConnection({
    url: options.url,
    token: options.token,
    pingIntervalMs: NEVER_MS,
    onOpen() {
      // Its timer continues after the connection is lost.
      if (losses > 0) beat();
      send({
        type: 'node_register',
        node_id: nodeId ?? null,
        version: '2.0.0',
        capability_schema_version: '2.0',
        platform: 'windows',
        hardware: { cpu_cores: 16, memory_gb: 32, gpus: [{ name: 'NVIDIA RTX 4060', memory_gb: 8 }] },
        installed_models: [],
        features_supported: { emotion_detection: false },
        advanced_features: null,
        accept_public_jobs: true,
        ...abilities,
      });
    },
    onText(text) {
      const frame = JSON.parse(text) as { readonly type: string; readonly node_id?: string };
      if (frame.type === 'node_register_ack') {
        nodeId = frame.node_id;
        isRegistered = true;
        beat();
        resolveRegistered();
      } else if (frame.type === 'job_assign' && isRegistered) take(frame as unknown as JobAssign);
    },
    onLost() {
      isRegistered = false;
      losses += 1;
      if (losses > 1) resolveRegistered();
    },
    retryDelayMs: () => (losses === 1 ? RECONNECT_MS : undefined),
  });
  const timer = setInterval(beat, BEAT_MS);

  const send = (frame: Record<string, unknown>): void => void connection.send(JSON.stringify(frame));

  function beat(): void {
    if (nodeId === undefined) return;
    send({
      type: 'node_heartbeat',
      node_id: nodeId,
      timestamp: Date.now(),
      resource_usage: { ...CALM, running_jobs: running.size },
      ...abilities,
      installed_models: null,
    });
  }

  const sendResult: LegacyNode['reply'] = (job, result) =>
    send({ ...legacyResult(job, nodeId ?? '', { processing_time_ms: 12, ...result }) });

  function take(job: JobAssign): void {
    const verdict = judged.judge(job);
    if (verdict.kind === 'work') {
      running.add(job.job_id);
      options.onJob(job);
    } else if (verdict.kind === 'refuse')
      // The job that it repeats may be running.
      sendResult(job, { success: false, error: { code: 'PROCESSING_ERROR', message: verdict.message } });
  }

  connection.open();
  return {
    registered,
    isGone: () => losses > 1,
    reply(job, result) {
      running.delete(job.job_id);
      sendResult(job, result);
    },
    close() {
      clearInterval(timer);
      resolveRegistered();
      connection.cut();
      void connection.close();
    },
  };
}
