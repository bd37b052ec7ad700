/** Which invariants a final record violates. */
import { isSettled, type JobRecord } from '../../../src/domain/job.ts';
import { SETTINGS } from './rig.ts';

/** A job may end later than its deadline by a tick of the wheel and the delay of very slow ports. */
const DEADLINE_SLACK_MS = 1_200;

/** `results`: how many of its results were accepted as the outcome. */
export function problemsOf(job: JobRecord, results: number): string[] {
  const problems: string[] = [];
  if (!isSettled(job.state)) problems.push(`I3 ${job.state} for ever`);
  else if (job.state !== 'RELEASED') problems.push(`${job.state} and never released`);
  const ends = job.timeline.filter(({ state }) => state === 'FINISHED' || state === 'FAILED');
  if (ends.length > 1) problems.push('I3 two ends');
  const tookMs = (ends[0]?.at ?? job.createdAt) - job.createdAt;
  if (tookMs > SETTINGS.jobDeadlineMs + DEADLINE_SLACK_MS) problems.push(`I3 ended late, after ${tookMs} ms`);
  if (results > 1) problems.push('I3 two results accepted');
  const dispatched = job.timeline.filter(({ state }) => state === 'DISPATCHED');
  const attempts = dispatched.map(({ attempt }) => attempt);
  if (attempts.some((attempt, index) => attempt <= (attempts[index - 1] ?? 0)))
    problems.push(`I4 attempts ${attempts}`);
  if (new Set(dispatched.map(({ nodeId }) => nodeId)).size < dispatched.length)
    problems.push('I4 dispatched twice to one node');
  return problems;
}
