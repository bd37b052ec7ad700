/** An SDK node that stays silent about some jobs: it sends only their results. What it acknowledges is recorded. */
import type { NodeOptions } from '@lingua/sdk/node';
import type { Hands, Temper } from './hands.ts';

export type Message = Parameters<NonNullable<NodeOptions['tamper']>>[0];

export interface Silence {
  isAsleep(job: string): boolean;
  /** What it sends. */
  pass(message: Message): readonly Message[];
}

export function createSilence(hands: Pick<Hands, 'acknowledged'>, temper: Pick<Temper, 'isSleepy'>): Silence {
  const sleepy = new Set<string>();
  return {
    isAsleep: (job) => sleepy.has(job),
    pass(message) {
      // A repeated assignment is acknowledged again; whether the node stays silent was decided the first time.
      if (message.type === 'job_ack' && temper.isSleepy()) sleepy.add(message.job_id);
      const isSilent = 'job_id' in message && sleepy.has(message.job_id) && message.type !== 'job_result';
      if (isSilent) return [];
      if (message.type === 'job_ack') hands.acknowledged(message.job_id, message.attempt_id);
      return [message];
    },
  };
}
