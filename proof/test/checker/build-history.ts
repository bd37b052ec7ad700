/** Histories for tests of the checker: a correct run, to be broken in one place. */
import type { FaultKind, HistoryEvent, UntimedEvent } from '../../../packages/simulation/dist/history.js';

/** 100 ms after the one before, or at the given time. */
export type Step = UntimedEvent | readonly [at: number, step: UntimedEvent];

export function imagine(...steps: readonly Step[]): HistoryEvent[] {
  let last = 0;
  return steps.map((each) => {
    const [at, step] = isTimed(each) ? each : ([last + 100, each] as const);
    last = at;
    return { ...step, at };
  });
}

const isTimed = (step: Step): step is readonly [number, UntimedEvent] => Array.isArray(step);

export const up = (node: string, slots = 2): UntimedEvent => ({ kind: 'node_up', node, slots, style: 'sdk' });
export const assigned = (node: string, job: string, attempt = 1, instance?: string): UntimedEvent => ({
  kind: 'assigned',
  node,
  job,
  attempt,
  ...(instance !== undefined && { instance }),
});
export const started = (node: string, job: string, attempt = 1): UntimedEvent => ({
  kind: 'started',
  node,
  job,
  attempt,
});
export const turnedAway = (node: string, job: string, attempt = 1): UntimedEvent => ({
  kind: 'turned_away',
  node,
  job,
  attempt,
});
export const done = (node: string, job: string, attempt = 1): UntimedEvent => ({
  kind: 'ended',
  how: 'done',
  node,
  job,
  attempt,
});
export const asked = (request: string, client = 'c'): UntimedEvent => ({
  kind: 'asked',
  client,
  request,
  words: `words of ${request}`,
});
export const accepted = (request: string, job: string, client = 'c'): UntimedEvent => ({
  kind: 'accepted',
  client,
  request,
  job,
});
export const result = (
  request: string,
  node: string,
  job: string,
  attempt = 1,
  client = 'c',
): UntimedEvent => ({
  kind: 'outcome',
  client,
  request,
  job,
  result: { by: { node, job, attempt }, words: `words of ${request}` },
});
export const missing = (request: string, client = 'c'): UntimedEvent => ({
  kind: 'outcome',
  client,
  request,
  missing: 'job_failed',
});
export const delivered = (seq: number, index: number, what = 'result', session = 's'): UntimedEvent => ({
  kind: 'delivered',
  client: 'c',
  session,
  seq,
  index,
  what,
});
export const fault = (number: number, what: FaultKind, target = 'x'): UntimedEvent => ({
  kind: 'fault_began',
  fault: number,
  what,
  target,
});
export const healed = (number: number): UntimedEvent => ({ kind: 'fault_ended', fault: number });
export const record = (
  job: string,
  state: string | undefined,
  by?: { node: string; attempt: number },
): UntimedEvent => ({
  kind: 'looked_up',
  job,
  state,
  timeline: [],
  ...(by !== undefined && { result: { by: { ...by, job }, words: '' } }),
});

/** One job from the request to the record. */
export const oneJob = (request = 'r', job = 'j', node = 'n'): UntimedEvent[] => [
  asked(request),
  accepted(request, job),
  assigned(node, job),
  started(node, job),
  done(node, job),
  result(request, node, job),
  record(job, 'RELEASED', { node, attempt: 1 }),
];
