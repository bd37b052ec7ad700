/** Failure path: whether a job that must wait can still be in time, and what it can do without. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import { priorityWithin } from '../../domain/tenancy.ts';
import type { Engine } from '../engine.ts';
import { shapeOf } from '../queue/waiting.ts';
import type { CompiledNeed } from '../select/compile-need.ts';

/** The job would get its slot too late. */
export interface TooLate {
  readonly waitMs: number;
  readonly limitMs: number;
}

/** Undefined: it may be in time, or that is not known. */
export function foreseeLateness(
  { settings, tenancy, queue, serviceRates, slotTimes, clock }: Engine,
  { tenantId, waitMs, priority, deadlineAt, isDependant }: DispatchRequest,
  compiled: CompiledNeed,
): TooLate | undefined {
  // What continues an accepted request was promised already.
  if (!settings.refusesLate || isDependant === true) return undefined;
  const now = clock.now();
  const waitingClass = priorityWithin(tenancy.of(tenantId).priority, priority);
  const shape = shapeOf(compiled);
  const ahead = queue.ahead(tenantId, waitingClass, shape);
  const expectedMs = serviceRates.expectedWaitMs(shape, waitingClass, ahead, now);
  if (expectedMs === undefined) return undefined;
  const untilEnd = Math.min(settings.jobDeadlineMs, (deadlineAt ?? Number.POSITIVE_INFINITY) - now);
  const limitMs = Math.min(waitMs, untilEnd - (slotTimes.meanMs() ?? 0));
  return expectedMs > limitMs ? { waitMs: Math.ceil(expectedMs), limitMs: Math.max(0, limitMs) } : undefined;
}

/** The same request without what its tenant can do without. Undefined: there is nothing. */
export function degraded({ tenancy }: Engine, request: DispatchRequest): DispatchRequest | undefined {
  const { need, spec, isVoiceRequired } = request;
  const allowed = tenancy.of(request.tenantId).degrades;
  // The stages of a plan are chosen by the planner.
  if (allowed === undefined || spec.degraded !== undefined || spec.stages !== undefined) return undefined;
  const dropsVoice = allowed.includes('voice') && need.usesTts && isVoiceRequired !== true;
  const dropsPartials = allowed.includes('partials') && spec.enableStreamingAsr === true;
  // Without interim texts alone the job needs the same slot.
  if (!dropsVoice) return undefined;
  return {
    ...request,
    need: { ...need, usesTts: false },
    spec: {
      ...spec,
      pipeline: { ...spec.pipeline, use_tts: false },
      ...(dropsPartials && { enableStreamingAsr: undefined }),
      degraded: dropsPartials ? ['voice', 'partials'] : ['voice'],
    },
  };
}
