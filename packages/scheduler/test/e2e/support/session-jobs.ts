/** Jobs of an SDK node that the test ends one by one; a cancelled one ends by itself. */
import type { JobAssign, JobOutput, NodeOptions } from '@lingua/sdk/node';
import { eventually } from '../../support/eventually.ts';
import { OUTPUT } from './sdk-node.ts';

export interface EachJob {
  readonly onJob: NodeOptions['onJob'];
  /** Started jobs, in order. */
  readonly begun: readonly JobAssign[];
  readonly cancelled: readonly string[];
  /** The job of that number, from 1, once it has started. */
  job(count?: number): Promise<JobAssign>;
  /** Ends the job of that number. */
  finish(count: number, output?: JobOutput): void;
}

export function holdEachJob(): EachJob {
  const begun: JobAssign[] = [];
  const ends: ((output: JobOutput) => void)[] = [];
  const cancelled: string[] = [];
  return {
    begun,
    cancelled,
    onJob: (job, { signal }) =>
      new Promise((resolve, reject) => {
        begun.push(job);
        ends.push(resolve);
        signal.addEventListener('abort', () => {
          cancelled.push(job.job_id);
          reject(signal.reason as Error);
        });
      }),
    job: (count = 1) =>
      eventually(() => {
        const job = begun[count - 1];
        if (job === undefined) throw new Error(`${begun.length} jobs have started, not ${count}`);
        return job;
      }),
    finish(count, output = OUTPUT) {
      const end = ends[count - 1];
      if (end === undefined) throw new Error(`job ${count} has not started`);
      end(output);
    },
  };
}

/** The result names the audio, so that results can be distinguished. */
export const echo: NodeOptions['onJob'] = async (_job, { audio }) => {
  const heard = await audio();
  return { text_asr: `heard ${heard[0]}`, text_translated: `说 ${heard[0]}` };
};
