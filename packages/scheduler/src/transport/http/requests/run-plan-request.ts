/** Runs the plan of a translate request and collects one answer per language. If the caller leaves, the plan goes on for a repeat. */
import { isErrorCode } from '../../../domain/errors.ts';
import type { TenantId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { Language } from '../../../domain/language.ts';
import type { PartOutcome, PlanPart, PlanRequest } from '../../../domain/plan.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { PlanServices } from '../server/http-services.ts';

export interface PlanAnswers {
  /** By language and kind; absent: still open. */
  readonly outcomes: ReadonlyMap<string, PartOutcome>;
  /** All jobs of the plan so far, by id. */
  readonly jobs: ReadonlyMap<string, JobRecord>;
  readonly isOver: boolean;
}

export const keyOf = ({ language, kind }: PlanPart): string => `${language}/${kind}`;

export type RunRequest = (
  plan: PlanRequest,
  waitMs: number,
  signal: AbortSignal,
) => Promise<PlanAnswers | 'full'>;

/** So that one tenant leaves room for others. */
const TENANT_SHARE = 1 / 2;

/** `max`: plans at once; they outlive their callers, until their deadline. */
export function createRunRequest(deps: {
  readonly runner: PlanServices['runner'];
  readonly clock: Clock;
  readonly max: number;
}): RunRequest {
  const { runner, clock, max } = deps;
  const mostOfTenant = Math.ceil(max * TENANT_SHARE);
  const tenants = new Map<TenantId, number>();
  let running = 0;

  function count(tenantId: TenantId, by: 1 | -1): void {
    running += by;
    const own = (tenants.get(tenantId) ?? 0) + by;
    if (own > 0) tenants.set(tenantId, own);
    else tenants.delete(tenantId);
  }

  return function run(plan, waitMs, signal) {
    const { tenantId } = plan;
    if (running >= max || (tenants.get(tenantId) ?? 0) >= mostOfTenant) return Promise.resolve('full');
    count(tenantId, 1);
    return new Promise((resolve) => {
      const outcomes = new Map<string, PartOutcome>();
      const jobs = new Map<string, JobRecord>();
      let left = plan.wanted.reduce((sum, { isVoiceWanted }) => sum + (isVoiceWanted ? 2 : 1), 0);

      const answer = (): void => {
        cancelWait();
        signal.removeEventListener('abort', answer);
        resolve({ outcomes: new Map(outcomes), jobs: new Map(jobs), isOver: left === 0 });
      };
      const cancelWait = clock.after(waitMs, answer);
      if (signal.aborted) answer();
      else signal.addEventListener('abort', answer, { once: true });

      runner.run(plan, {
        admitted() {},
        recognised() {},
        moved(_parts, job) {
          jobs.set(job.jobId, job);
        },
        settled(part, outcome) {
          outcomes.set(keyOf(part), outcome);
          if (outcome.job !== undefined) jobs.set(outcome.job.jobId, outcome.job);
          left -= 1;
          if (left > 0) return;
          count(tenantId, -1);
          answer();
        },
      });
    });
  };
}

type Failed = Extract<PartOutcome, { kind: 'failed' }>;

/** Nodes report codes of their own, which have no status. */
export const refusalOfPart = ({ code, message, hint, reasons, retryAfterMs, job }: Failed): Refusal => ({
  ...(isErrorCode(code)
    ? { code, detail: message }
    : { code: 'PROCESSING_ERROR', detail: `${code}: ${message}` }),
  hint,
  reasons,
  retryAfterMs,
  jobId: job?.jobId,
});

export const outcomeOf = (
  { outcomes }: PlanAnswers,
  language: Language,
  kind: PlanPart['kind'],
): PartOutcome | undefined => outcomes.get(keyOf({ language, kind }));
