/** What a node of the SDK keeps to itself: of a job that it sleeps over it says nothing but the result. What it acknowledges is recorded. */
import type { NodeOptions } from '@lingua/sdk/node';
import type { Hands, Temper } from './hands.ts';

export type Message = Parameters<NonNullable<NodeOptions['tamper']>>[0];

export interface Silence {
  isAsleep(job: string): boolean;
  /** What leaves of it. */
  pass(message: Message): readonly Message[];
}

export function createSilence(hands: Pick<Hands, 'acknowledged'>, temper: Pick<Temper, 'isSleepy'>): Silence {
  const sleepy = new Set<string>();
  return {
    isAsleep: (job) => sleepy.has(job),
    pass(message) {
      // One that comes again is acknowledged again: whether it is slept over was settled the first time, if it is.
      if (message.type === 'job_ack' && temper.isSleepy()) sleepy.add(message.job_id);
      const isSilent = 'job_id' in message && sleepy.has(message.job_id) && message.type !== 'job_result';
      if (isSilent) return [];
      if (message.type === 'job_ack') hands.acknowledged(message.job_id, message.attempt_id);
      return [message];
    },
  };
}
