/** An SDK node that does not acknowledge some jobs and sends only their results. Its acknowledgements are recorded. */
import type { NodeOptions } from '@lingua/sdk/node';
import type { NodeProcess, Temper } from './node-process.ts';

export type Message = Parameters<NonNullable<NodeOptions['tamper']>>[0];

export interface AckWithholding {
  isAsleep(job: string): boolean;
  /** What it sends. */
  pass(message: Message): readonly Message[];
}

export function withholdAcks(
  nodeProcess: Pick<NodeProcess, 'acknowledged'>,
  temper: Pick<Temper, 'isSleepy'>,
): AckWithholding {
  const sleepy = new Set<string>();
  return {
    isAsleep: (job) => sleepy.has(job),
    pass(message) {
      // A repeated assignment is acknowledged again; the first decision about the acknowledgement stays.
      if (message.type === 'job_ack' && temper.isSleepy()) sleepy.add(message.job_id);
      const isSilent = 'job_id' in message && sleepy.has(message.job_id) && message.type !== 'job_result';
      if (isSilent) return [];
      if (message.type === 'job_ack') nodeProcess.acknowledged(message.job_id, message.attempt_id);
      return [message];
    },
  };
}
