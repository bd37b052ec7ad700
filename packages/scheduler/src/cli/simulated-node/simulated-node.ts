/** A node without a GPU: the SDK, and answers that its behaviour generates. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createNode,
  type GpuNode,
  type JobAssign,
  JobError,
  type JobHandler,
  NODE_EXTENSIONS,
  type NodeLog,
  type NodeOptions,
  SILENT_LOG,
} from '@lingua/sdk/node';
import type { Stage } from '../../domain/stage.ts';
import { sentenceIn } from '../simulated-speech.ts';
import type { Behaviour } from './behaviour.ts';
import { createLegacyNode } from './legacy-node.ts';
import { type JobPlan, planJob } from './plan-job.ts';
import { createSeededChance } from './seeded-chance.ts';
import { simulatedCapabilities, simulatedResources } from './simulated-capabilities.ts';
import { missingModel, outputOf, speak, tone } from './simulated-output.ts';

export interface SimulatedNodeOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly languages: readonly string[];
  /** Absent: all. A legacy node always has all. */
  readonly stages?: readonly Stage[];
  readonly slots: number;
  readonly behaviour: Behaviour;
  readonly seed: number;
  readonly log?: NodeLog | undefined;
}

export interface SimulatedCounts {
  readonly isUp: boolean;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  /** Jobs that never got an answer. */
  readonly silent: number;
  readonly crashes: number;
}

export interface SimulatedNode {
  /** Resolves when the node is registered. */
  start(): Promise<void>;
  counts(): SimulatedCounts;
  nodeId(): string | undefined;
  stop(): Promise<void>;
}

export const createSimulatedNode = (options: SimulatedNodeOptions): SimulatedNode =>
  options.behaviour.isLegacy ? createLegacyNode(options) : createSdkNode(options);

/** A job that is never answered keeps its slot this long, unless it is cancelled. */
const SILENCE_MS = 120_000;

function createSdkNode(options: SimulatedNodeOptions): SimulatedNode {
  const { behaviour, slots } = options;
  const chance = createSeededChance(options.seed);
  const sound = tone(behaviour.ttsMs);
  const ended = new AbortController();
  const counts = { done: 0, failed: 0, silent: 0, crashes: 0 };
  let plans = new Map<string, JobPlan>();
  let jobs = 0;
  let lives = 0;

  function launch(nodeId: string | undefined): GpuNode {
    lives += 1;
    const life = lives;
    const made: GpuNode = createNode({
      url: options.url,
      token: options.token,
      nodeId,
      log: options.log ?? SILENT_LOG,
      maxConcurrentJobs: slots,
      capabilities: simulatedCapabilities(options.languages, false, options.stages),
      supports: [...NODE_EXTENSIONS, 'text_input', 'stage_results', 'glossary'],
      resources: () => simulatedResources(made.metrics().running, slots),
      // All nodes of a fleet share the memory of this process.
      limits: { maxRememberedResults: 10 },
      onJob: work,
      // A crashed node answers nothing.
      tamper: (message) => (life === lives ? tamper(message) : []),
    });
    return made;
  }

  function planOf(jobId: string): JobPlan {
    const known = plans.get(jobId);
    if (known !== undefined) return known;
    jobs += 1;
    const plan = planJob(behaviour, jobs, chance);
    plans.set(jobId, plan);
    return plan;
  }

  const work: JobHandler = async (job, { audio, partial, texts, signal }) => {
    const plan = planOf(job.job_id);
    const spoken = speak(job, chance, await recognise(job, audio));
    if (plan.kind === 'crash') crash();
    if (plan.kind === 'overload') throw overload();
    const until = plan.isLate ? ended.signal : signal;
    await sleep(plan.kind === 'silent' ? SILENCE_MS : plan.delayMs * 0.4, undefined, { signal: until });
    if (job.enable_streaming_asr === true) partial(spoken.source, true);
    await sleep(plan.delayMs * 0.2, undefined, { signal: until });
    const output = outputOf(job, spoken, plan.delayMs, sound);
    if (job.pipeline.use_tts) texts({ text_asr: output.text_asr, text_translated: output.text_translated });
    await sleep(plan.delayMs * 0.4, undefined, { signal: until });
    if (plan.kind === 'fail') throw new JobError(behaviour.failureCode, 'a simulated failure');
    if (plan.kind === 'model_not_available') throw missingModel(behaviour);
    return { ...output, detected_language: spoken.language };
  };

  /** Audio behind a reference without a token is not fetched. */
  async function recognise({ audio_ref: ref, input_text: typed }: JobAssign, audio: () => Promise<Buffer>) {
    const hasNoSound = typed !== undefined || (ref !== undefined && ref.token === undefined);
    return hasNoSound ? undefined : sentenceIn(await audio());
  }

  const overload = (): JobError =>
    new JobError('NODE_OVERLOADED', 'a simulated refusal', { running: slots, max: slots });

  const tamper: NonNullable<NodeOptions['tamper']> = (message) => {
    if (message.type === 'job_ack') return planOf(message.job_id).isAcknowledged ? [message] : [];
    if (message.type === 'job_started')
      return plans.get(message.job_id)?.isAcknowledged === false ? [] : [message];
    if (message.type !== 'job_result') return [message];
    const plan = plans.get(message.job_id);
    plans.delete(message.job_id);
    if (plan?.kind === 'silent') {
      counts.silent += 1;
      return [];
    }
    if (message.success) counts.done += 1;
    else counts.failed += 1;
    return plan?.isRepeated ? [message, message] : [message];
  };

  /** The process dies with its jobs; another one may start in its place. */
  function crash(): void {
    counts.crashes += 1;
    counts.silent += node.metrics().running;
    lives += 1;
    const nodeId = node.nodeId();
    node.kill();
    plans = new Map();
    if (behaviour.restartAfterMs === undefined) return;
    sleep(behaviour.restartAfterMs, undefined, { signal: ended.signal }).then(
      () => {
        jobs = 0;
        node = launch(nodeId);
        node.start().catch(() => {});
      },
      () => {},
    );
  }

  let node = launch(options.nodeId);
  return {
    start: () => node.start(),
    counts: () => ({ ...counts, isUp: node.metrics().isRegistered, running: node.metrics().running }),
    nodeId: () => node.nodeId(),
    stop() {
      ended.abort();
      return node.stop({ graceMs: 0 });
    },
  };
}
