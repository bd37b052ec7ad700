/** An SDK node, and a job handler that the test completes job by job. */
import {
  createNode,
  type GpuNode,
  type JobAssign,
  type JobOutput,
  type NodeOptions,
  SILENT_LOG,
} from '@lingua/sdk/node';
import { onTestFinished } from 'vitest';
import { simulatedCapabilities } from '../../../src/cli/simulated-node/simulated-capabilities.ts';
import { eventually } from '../../support/eventually.ts';

export const OUTPUT: JobOutput = { text_asr: 'hello', text_translated: '你好' };

/** Fixed figures: the test machine may be busier than the scheduler allows for a node. */
const CALM = { cpu_percent: 10, gpu_percent: 10, mem_percent: 10 };

export type SdkNodeOptions = Partial<NodeOptions> & Pick<NodeOptions, 'url' | 'onJob'>;

export async function joinSdkNode(options: SdkNodeOptions): Promise<GpuNode> {
  const node = createNode({
    maxConcurrentJobs: 4,
    capabilities: simulatedCapabilities(['en', 'zh'], false),
    resources: () => CALM,
    log: SILENT_LOG,
    ...options,
    timings: { firstMs: 20, longestMs: 50, ...options.timings },
  });
  onTestFinished(() => node.kill());
  await node.start();
  return node;
}

export interface HeldJobs {
  readonly onJob: NodeOptions['onJob'];
  /** Started jobs, including finished ones. */
  readonly begun: readonly JobAssign[];
  /** The job of that number, from 1, once it has started. */
  job(count?: number): Promise<JobAssign>;
  /** Completes every job: the running ones and all later ones. */
  finish(output?: JobOutput): void;
}

export function holdJobs(): HeldJobs {
  const begun: JobAssign[] = [];
  let finish: (output: JobOutput) => void = () => {};
  const finished = new Promise<JobOutput>((resolve) => {
    finish = resolve;
  });
  return {
    begun,
    onJob(job) {
      begun.push(job);
      return finished;
    },
    job: (count = 1) => eventually(() => begun[count - 1]),
    finish: (output = OUTPUT) => finish(output),
  };
}
