/** The program under test of the TypeScript SDK: a node that does what each job's instructions say. */
import { createHash } from 'node:crypto';
import {
  createNode,
  type GpuNode,
  type JobContext,
  JobError,
  NODE_EXTENSIONS,
  SILENT_LOG,
} from '@lingua/sdk/node';
import type { NodeConfig, ProgramEvent } from './node-program.ts';

type JobAssign = Parameters<Parameters<typeof createNode>[0]['onJob']>[0];
type Output = Awaited<ReturnType<Parameters<typeof createNode>[0]['onJob']>>;
type Instruction = Readonly<Record<string, unknown>>;

export interface ConformanceNode {
  obey(order: Readonly<Record<string, unknown>>): void;
  /** As if the process ended. */
  end(): void;
}

export function startConformanceNode(
  config: NodeConfig,
  print: (event: ProgramEvent) => void,
  onEnd: () => void,
): ConformanceNode {
  const gates = new Map<string, { readonly opened: Promise<void>; readonly open: () => void }>();
  const gate = (name: string) => {
    let found = gates.get(name);
    if (found === undefined) {
      let open: () => void = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      found = { opened, open };
      gates.set(name, found);
    }
    return found;
  };

  async function follow(job: JobAssign, context: JobContext): Promise<Output> {
    const instructions = JSON.parse(job.context_text ?? '[]') as Instruction[];
    let output: Record<string, unknown> = { text_asr: 'done' };
    for (const { wait, insist, ...instruction } of instructions) {
      if (typeof wait === 'string')
        await Promise.race([gate(wait).opened, aborted(job, context.signal, print)]);
      else if (typeof insist === 'string') await gate(insist).opened;
      else output = await step(instruction, job, context, output);
    }
    return output as Output;
  }

  let noticeMs: number | undefined;
  const { first_retry_ms, longest_retry_ms, ping_interval_ms, register_timeout_ms, audio_timeout_ms } =
    config.timings;
  const given = {
    firstMs: first_retry_ms,
    longestMs: longest_retry_ms,
    pingIntervalMs: ping_interval_ms,
    registerTimeoutMs: register_timeout_ms,
    audioTimeoutMs: audio_timeout_ms,
    noticeIntervalMs: config.timings.notice_interval_ms,
  };
  const node: GpuNode = createNode({
    url: config.url,
    token: config.token,
    nodeId: config.node_id,
    maxConcurrentJobs: config.max_concurrent_jobs,
    capabilities: config.capabilities,
    supports: [...NODE_EXTENSIONS, ...(config.supports as 'text_input'[])],
    timings: Object.fromEntries(Object.entries(given).filter(([, ms]) => ms !== undefined)) as object,
    log: SILENT_LOG,
    async onJob(job, context) {
      try {
        return await follow(job, context);
      } finally {
        print({ event: 'ended', job_id: job.job_id });
      }
    },
    leavingInMs: () => noticeMs,
    onDrain: (reason) => print({ event: 'drain', reason }),
    onCommand(command) {
      print({ event: 'command', command });
      if (command === 'shutdown') onEnd();
    },
  });
  node.start().then(
    () => print({ event: 'registered', node_id: node.nodeId() }),
    (error: { code?: string; message: string }) => {
      print({ event: 'refused', code: error.code, message: error.message });
      onEnd();
    },
  );

  return {
    obey({ open, do: action, grace_ms: graceMs, in_ms: inMs }) {
      if (typeof open === 'string') gate(open).open();
      else if (action === 'beat') node.beat();
      else if (action === 'notice') noticeMs = Number(inMs);
      else if (action === 'stop')
        void node.stop(graceMs === undefined ? {} : { graceMs: Number(graceMs) }).then(onEnd);
    },
    end: () => node.kill(),
  };
}

async function step(
  instruction: Instruction,
  job: JobAssign,
  context: JobContext,
  output: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const {
    partial,
    is_final: isFinal,
    texts,
    audio,
    text_input: text,
    bytes,
    fail,
    throw: thrown,
  } = instruction;
  if (typeof partial === 'string') context.partial(partial, isFinal === true);
  if (texts !== undefined) context.texts(texts as Parameters<JobContext['texts']>[0]);
  if (audio === true) {
    const heard = await context.audio();
    return { ...output, text_asr: `${heard.length} ${createHash('sha256').update(heard).digest('hex')}` };
  }
  if (text === true) return { ...output, text_asr: job.input_text };
  if (typeof bytes === 'string') return { ...output, tts_audio: Buffer.from(bytes, 'base64') };
  if (fail !== undefined) {
    const { code, message, details } = fail as { code: string; message: string; details?: unknown };
    throw new JobError(code, message, details);
  }
  if (typeof thrown === 'string') throw new Error(thrown);
  return 'return' in instruction ? (instruction.return as Record<string, unknown>) : output;
}

/** Never resolves; rejects when the job is cancelled. */
const aborted = (job: JobAssign, signal: AbortSignal, print: (event: ProgramEvent) => void): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => {
      print({ event: 'cancelled', job_id: job.job_id });
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
