/** A legacy node: no extensions, one reconnect, and its own peculiarities (docs/protocol.md, last section). */
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobAssign, type JobResult, type NodeToScheduler, parseSchedulerToNode } from '@lingua/protocol';
import { createConnection } from '@lingua/sdk/node';
import { sentenceIn } from '../simulated-speech.ts';
import { createLegacyJobs, legacyResult } from './legacy-jobs.ts';
import { type JobPlan, planJob } from './plan-job.ts';
import { createSeededChance } from './seeded-chance.ts';
import { simulatedCapabilities, simulatedResources } from './simulated-capabilities.ts';
import type { SimulatedNode, SimulatedNodeOptions } from './simulated-node.ts';
import { missingModel, outputOf, speak, tone } from './simulated-output.ts';

const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 5_000;
/** Legacy nodes do not check their connection; the longest interval of a timer stands for never. */
const NEVER_MS = 2 ** 31 - 1;

export function createLegacyNode(
  options: SimulatedNodeOptions,
  { reconnectMs = RECONNECT_MS }: { readonly reconnectMs?: number } = {},
): SimulatedNode {
  const { behaviour, slots, languages } = options;
  const chance = createSeededChance(options.seed);
  const sound = tone(behaviour.ttsMs);
  const ended = new AbortController();
  const judged = createLegacyJobs();
  const counts = { done: 0, failed: 0, silent: 0, crashes: 0 };
  const capabilities = simulatedCapabilities(languages, true);
  const queue: (() => void)[] = [];
  let nodeId = options.nodeId;
  let isRegistered = false;
  let losses = 0;
  let jobs = 0;
  let busy = 0;
  let recognising = 0;
  let heartbeat: NodeJS.Timeout | undefined;
  let resolveStarted: () => void = () => {};
  let giveUp: (error: Error) => void = () => {};
  const started = new Promise<void>((resolve, reject) => {
    resolveStarted = resolve;
    giveUp = reject;
  });
  // A caller that does not await start() sees it in counts().
  started.catch(() => {});

  const connection = createConnection({
    url: options.url,
    token: options.token,
    pingIntervalMs: NEVER_MS,
    onOpen: introduce,
    onText: receive,
    onLost: () => {
      isRegistered = false;
      losses += 1;
      if (losses > 1) giveUp(new Error('a node of this kind tries twice only'));
    },
    // One reconnect; none if it fails or the connection is lost a second time.
    retryDelayMs: () => (losses === 1 ? reconnectMs : undefined),
  });

  function introduce(): void {
    // On a reconnect the timer still runs, and may fire first.
    if (losses > 0) beat();
    send({
      type: 'node_register',
      version: '0.1.0',
      platform: 'linux',
      hardware: { cpu_cores: 16, memory_gb: 64 },
      installed_models: [],
      features_supported: {},
      accept_public_jobs: true,
      ...capabilities,
      ...(nodeId === undefined ? {} : { node_id: nodeId }),
    });
  }

  function receive(text: string): void {
    const parsed = parseSchedulerToNode(text);
    if (parsed.kind === 'invalid') return;
    if (parsed.message.type === 'node_register_ack') {
      nodeId = parsed.message.node_id;
      isRegistered = true;
      beat();
      clearInterval(heartbeat);
      heartbeat = setInterval(beat, HEARTBEAT_MS);
      resolveStarted();
    } else if (parsed.message.type === 'job_assign' && isRegistered) {
      const job = parsed.message;
      take(job);
    }
  }

  function beat(): void {
    if (nodeId === undefined) return;
    const { installed_services, capability_by_type, language_capabilities } = capabilities;
    send({
      type: 'node_heartbeat',
      node_id: nodeId,
      timestamp: Date.now(),
      resource_usage: simulatedResources(recognising, slots),
      installed_models: [],
      ...(installed_services === undefined ? {} : { installed_services }),
      ...(capability_by_type === undefined ? {} : { capability_by_type }),
      ...(language_capabilities === undefined ? {} : { language_capabilities }),
    });
  }

  function take(job: JobAssign): void {
    const verdict = judged.judge(job);
    if (verdict.kind === 'ignore') counts.silent += 1;
    else if (verdict.kind === 'refuse') answer(job, failure('PROCESSING_ERROR', verdict.message));
    else {
      jobs += 1;
      const plan = planJob(behaviour, jobs, chance);
      // Legacy nodes do not refuse jobs for lack of slots: they queue them.
      if (busy < slots) void work(job, plan);
      else queue.push(() => void work(job, plan));
    }
  }

  async function work(job: JobAssign, plan: JobPlan): Promise<void> {
    const spoken = speak(job, chance, sentenceIn(Buffer.from(job.audio, 'base64')));
    const startedAt = Date.now();
    busy += 1;
    recognising += 1;
    try {
      await sleep(plan.delayMs * 0.4, undefined, { signal: ended.signal });
    } catch {
      return;
    } finally {
      recognising -= 1;
    }
    await sleep(plan.delayMs * 0.6, undefined, { signal: ended.signal }).catch(() => {});
    busy -= 1;
    queue.shift()?.();
    if (ended.signal.aborted) return;
    if (plan.kind === 'crash') return crash();
    if (plan.kind === 'silent') counts.silent += 1;
    else {
      const result = outcome(job, plan, spoken, Date.now() - startedAt);
      answer(job, result);
      if (plan.isRepeated) answer(job, result);
    }
  }

  function outcome(
    job: JobAssign,
    plan: JobPlan,
    spoken: ReturnType<typeof speak>,
    processing_time_ms: number,
  ): Outcome {
    if (plan.kind === 'fail') return failure(behaviour.failureCode, 'a simulated failure');
    if (plan.kind === 'model_not_available') {
      const { code, message, details } = missingModel(behaviour);
      return { success: false, error: { code, message, details } };
    }
    const { extra, tts_audio: _, ...output } = outputOf(job, spoken, plan.delayMs, sound);
    return {
      ...output,
      ...(output.tts_format === undefined ? {} : { tts_audio: sound }),
      ...(judged.isOvertaken(job) ? { text_translated: '' } : {}),
      extra: {
        simulated: true,
        ...(extra?.language_probability === undefined
          ? {}
          : { language_probability: extra.language_probability }),
      },
      success: true,
      processing_time_ms,
    };
  }

  function answer(job: JobAssign, result: Outcome): void {
    if (result.success) counts.done += 1;
    else counts.failed += 1;
    send(legacyResult(job, nodeId ?? '', result));
  }

  function crash(): void {
    counts.crashes += 1;
    end();
    connection.cut();
    void connection.close();
  }

  function end(): void {
    ended.abort();
    giveUp(new Error('the node was stopped before it was registered'));
    isRegistered = false;
    clearInterval(heartbeat);
  }

  const send = (message: NodeToScheduler): void => {
    connection.send(JSON.stringify(message));
  };

  return {
    start() {
      connection.open();
      return started;
    },
    counts: () => ({ ...counts, isUp: isRegistered, running: ended.signal.aborted ? 0 : busy }),
    nodeId: () => nodeId,
    stop() {
      end();
      return connection.close();
    },
  };
}

type Outcome = Partial<JobResult> & Pick<JobResult, 'success'>;

const failure = (code: string, message: string): Outcome => ({ success: false, error: { code, message } });
