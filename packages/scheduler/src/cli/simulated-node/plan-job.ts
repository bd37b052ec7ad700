/** What a simulated node will do with one job. Pure; chance comes in as an argument. */
import type { Behaviour } from './behaviour.ts';
import { sampleLatency } from './latency.ts';

export interface JobPlan {
  readonly kind: 'answer' | 'fail' | 'model_not_available' | 'overload' | 'silent' | 'crash';
  readonly delayMs: number;
  readonly isAcknowledged: boolean;
  /** Answers even if the job was cancelled. */
  readonly isLate: boolean;
  readonly isRepeated: boolean;
}

/** `number` counts the jobs of the node from 1. */
export function planJob(behaviour: Behaviour, number: number, chance: () => number): JobPlan {
  // All are drawn, always in this order, so that a changed rate has no other effect.
  const usualMs = sampleLatency(behaviour.latency, chance);
  const isSilent = chance() < behaviour.silenceRate;
  const isUnacknowledged = chance() < behaviour.ackSilenceRate;
  const isLate = chance() < behaviour.lateRate;
  const isRepeated = chance() < behaviour.duplicateRate;
  const isFailure = chance() < behaviour.failureRate;
  const isMissingModel = chance() < behaviour.modelNotAvailableRate;
  const isOverload = chance() < behaviour.overloadRate;

  const delayMs = isLate ? behaviour.lateMs : usualMs * slowness(behaviour, number);
  const isDead = behaviour.slowDeath !== undefined && delayMs > behaviour.slowDeath.silentAboveMs && !isLate;
  const kind = kindOf({
    isCrash: number === behaviour.crashAfterJobs,
    isSilent: isSilent || isDead,
    isOverload,
    isMissingModel,
    isFailure,
  });
  return {
    kind,
    delayMs: kind === 'overload' || kind === 'crash' ? 0 : delayMs,
    // A node that refuses for lack of slots sends no acknowledgement before.
    isAcknowledged: !isUnacknowledged && kind !== 'overload',
    isLate,
    isRepeated,
  };
}

function slowness({ slowDeath }: Behaviour, number: number): number {
  if (slowDeath === undefined || number <= slowDeath.afterJobs) return 1;
  return slowDeath.factor ** (number - slowDeath.afterJobs);
}

function kindOf(it: {
  readonly isCrash: boolean;
  readonly isSilent: boolean;
  readonly isOverload: boolean;
  readonly isMissingModel: boolean;
  readonly isFailure: boolean;
}): JobPlan['kind'] {
  if (it.isCrash) return 'crash';
  if (it.isSilent) return 'silent';
  if (it.isOverload) return 'overload';
  if (it.isMissingModel) return 'model_not_available';
  return it.isFailure ? 'fail' : 'answer';
}
