/**
 * Cold path: erases what people said of a job or a session: from the records, from sessions on all
 * instances, from the logs of rooms, and from dead letters.
 *
 * A job that still runs is cancelled first. The record of a finished job stays without its texts as long as its request is bound to it, so
 * that a repeated request does not run again (I3). Every part may be repeated.
 */
import type { JobId, SessionId, TenantId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { JobFilter } from '../../domain/job-query.ts';
import type { CancelOutcome } from '../../domain/node-report.ts';
import { planNameOf, planPrefixOf } from '../../domain/plan.ts';
import { type Said, utteranceOf } from '../../domain/room-log.ts';
import type { JobStore } from '../../ports/job-store.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';
import type { DeadLetterService } from '../recovery/dead-letter-service.ts';
import type { AskInstances } from './ask-instances.ts';

/** With `jobId`: only what a session keeps of that job. Without a tenant: of any tenant. */
export interface EraseOrder {
  readonly sessionId: SessionId;
  readonly tenantId?: TenantId | undefined;
  readonly jobId?: JobId | undefined;
  /** The record of the job is gone: no session waits for it. */
  readonly isForgotten?: boolean | undefined;
}

export interface Erased {
  readonly jobs: number;
  readonly sessions: number;
  readonly deadLetters: number;
  /** In the logs of rooms. */
  readonly roomUtterances: number;
  /** Another call erases the rest: jobs that had not ended, or more jobs than one call erases. */
  readonly isDone: boolean;
  /** Instances that did not answer: they may still hold texts. */
  readonly unreachable: readonly string[];
}

export interface Erasure {
  /** Also the other jobs of its plan: what was recognised is in several of them. */
  job(job: JobRecord): Promise<Erased>;
  /** What is left of a job whose record is gone: notes of client reports, and dead letters. Undefined: nothing. */
  forgottenJob(jobId: JobId, tenantId: TenantId | undefined): Promise<Erased | undefined>;
  session(sessionId: SessionId, tenantId: TenantId | undefined): Promise<Erased>;
}

/** How long a cancelled job may take to end. */
const END_MS = 3_000;
/** I11: one call erases no more jobs than this, and reports that more are left. */
const MAX_JOBS = 2_000;
const PAGE = 100;

export function createErasure(deps: {
  readonly store: Pick<JobStore, 'erase' | 'list'>;
  readonly cancel: (jobId: JobId, reason: string) => Promise<CancelOutcome>;
  readonly settled: (jobId: JobId, waitMs: number) => Promise<JobRecord | undefined>;
  /** True: the session was on this instance. */
  readonly eraseHere: (order: EraseOrder) => boolean;
  readonly deadLetters: Pick<DeadLetterService, 'removeAbout'>;
  /** From the logs of the tenant's rooms. Returns how many utterances that were; undefined: the store did not answer. */
  readonly eraseSaid: (tenantId: TenantId, said: Said) => Promise<number | undefined>;
  /** Absent: there is only one instance. */
  readonly others?:
    | {
        readonly bus: Pick<MessageBus, 'on'>;
        readonly ask: AskInstances;
        readonly sessionStore: Pick<SessionStore, 'load' | 'remove'>;
      }
    | undefined;
}): Erasure {
  const { store, others } = deps;
  others?.bus.on('erase', async (body) => deps.eraseHere(readMessage<EraseOrder>('erase', body, SHAPE)));

  async function eraseJob({ jobId, state }: Pick<JobRecord, 'jobId' | 'state'>): Promise<boolean> {
    if (!isSettled(state)) {
      await deps.cancel(jobId, 'erased');
      await deps.settled(jobId, END_MS);
    }
    return (await store.erase(jobId)) !== 'not_settled';
  }

  async function eraseInSessions(order: EraseOrder): Promise<Pick<Erased, 'sessions' | 'unreachable'>> {
    const isHere = deps.eraseHere(order);
    const asked = await others?.ask('erase', order.sessionId, order);
    const elsewhere = [...(asked?.answers.values() ?? [])].filter((isThere) => isThere === true).length;
    return { sessions: (isHere ? 1 : 0) + elsewhere, unreachable: asked?.unreachable ?? [] };
  }

  /** The state of a session that no instance has: its instance died, and its client has not resumed it. */
  async function eraseSaved({ sessionId, tenantId }: EraseOrder) {
    const saved = await others?.sessionStore.load(sessionId);
    const owner = saved?.state.tenantId;
    if (saved === undefined || (tenantId !== undefined && owner !== tenantId)) return undefined;
    const removed = await others?.sessionStore.remove(sessionId, saved.owner);
    return { tenantId: owner, isRemoved: removed === 'removed' };
  }

  async function jobsOf(filter: JobFilter): Promise<{ jobs: JobRecord[]; isAll: boolean }> {
    const jobs: JobRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ ...filter, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      jobs.push(...page.jobs);
      cursor = page.cursor;
    } while (cursor !== undefined && jobs.length < MAX_JOBS);
    return { jobs, isAll: cursor === undefined };
  }

  async function withItsPlan(job: JobRecord): Promise<{ jobs: JobRecord[]; isAll: boolean }> {
    const { jobId, sessionId, tenantId } = job;
    const anyId = planPrefixOf(job.requestId);
    if (anyId === undefined) return { jobs: [job], isAll: true };
    const { jobs, isAll } = await jobsOf({ sessionId, tenantId, anyId });
    return { jobs: [job, ...jobs.filter((other) => other.jobId !== jobId)], isAll };
  }

  return {
    async job(job) {
      const { sessionId, tenantId } = job;
      const { jobs, isAll } = await withItsPlan(job);
      const erased = await Promise.all(jobs.map(eraseJob));
      const asked = await Promise.all(
        jobs.map(({ jobId }) => eraseInSessions({ sessionId, tenantId, jobId })),
      );
      const planName = planNameOf(job.requestId);
      const said = { speaker: sessionId, utterance: planName && utteranceOf(sessionId, planName) };
      // What a member says in a room is always a plan.
      const inRooms = planName === undefined ? 0 : await deps.eraseSaid(tenantId, said);
      const letters = await deps.deadLetters.removeAbout(new Set(jobs.map(({ jobId }) => jobId)));
      const missing = [
        ...new Set([...asked.flatMap(({ unreachable }) => unreachable), ...letters.unreachable]),
      ];
      return {
        jobs: erased.filter((isErased) => isErased).length,
        sessions: 0,
        deadLetters: letters.removed,
        roomUtterances: inRooms ?? 0,
        isDone:
          isAll && erased.every((isErased) => isErased) && missing.length === 0 && inRooms !== undefined,
        unreachable: missing,
      };
    },

    async forgottenJob(jobId, tenantId) {
      const order = { sessionId: '', tenantId, jobId, isForgotten: true };
      const { sessions: withNotes, unreachable } = await eraseInSessions(order);
      const letters = await deps.deadLetters.removeAbout(new Set([jobId]));
      const missing = [...new Set([...unreachable, ...letters.unreachable])];
      if (withNotes + letters.removed === 0 && missing.length === 0) return undefined;
      const isDone = missing.length === 0;
      return {
        jobs: 0,
        sessions: 0,
        deadLetters: letters.removed,
        roomUtterances: 0,
        isDone,
        unreachable: missing,
      };
    },

    async session(sessionId, tenantId) {
      const order = { sessionId, tenantId };
      // The sessions first: they would begin further jobs.
      const { sessions, unreachable } = await eraseInSessions(order);
      const saved = await eraseSaved(order);
      const { jobs, isAll } = await jobsOf({ sessionId, ...(tenantId !== undefined && { tenantId }) });
      const erased = await Promise.all(jobs.map(eraseJob));
      // An operator names no tenant: a session of which nothing is left but its words in a room is not found.
      const tenantIds = new Set([tenantId, saved?.tenantId, ...jobs.map((job) => job.tenantId)]);
      const said: (number | undefined)[] = [];
      for (const each of tenantIds)
        if (each !== undefined) said.push(await deps.eraseSaid(each, { speaker: sessionId }));
      const letters = await deps.deadLetters.removeAbout(new Set(jobs.map(({ jobId }) => jobId)));
      const missing = [...new Set([...unreachable, ...letters.unreachable])];
      return {
        jobs: erased.filter((isErased) => isErased).length,
        sessions: Math.max(sessions, saved?.isRemoved ? 1 : 0),
        deadLetters: letters.removed,
        roomUtterances: said.reduce<number>((sum, count) => sum + (count ?? 0), 0),
        isDone:
          isAll && erased.every((isErased) => isErased) && missing.length === 0 && !said.includes(undefined),
        unreachable: missing,
      };
    },
  };
}

const SHAPE = { sessionId: 'string' } as const;
