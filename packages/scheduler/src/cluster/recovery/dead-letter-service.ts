/** Cold path: lists, replays and purges the dead letters of all instances. */
import { SchedulerError } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DeadLetter, DeadLetters, WholeDeadLetter } from '../../ports/dead-letters.ts';
import type { Inbox } from '../../ports/inbox.ts';
import type { Instances } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import { headingOf } from '../messaging/message-heading.ts';
import type { MessageName } from '../messaging/message-name.ts';

export interface DeadLetterListing {
  /** By instance, the newest of each first. */
  readonly letters: readonly (DeadLetter & MessageName)[];
  /** A short page may have one, too. */
  readonly cursor?: MessageName | undefined;
  /** Instances whose dead letters could not be read in time. */
  readonly unreachable: readonly string[];
}

export type DeadLetterReplayResult =
  | { readonly kind: 'replayed' | 'full'; readonly to: string }
  | { readonly kind: 'absent' };

export interface DeadLetterPurge {
  readonly purged: number;
  /** False: another call purges the rest. */
  readonly isDone: boolean;
  readonly unreachable: readonly string[];
}

export interface DeadLetterService {
  list(query: {
    readonly instanceId?: string | undefined;
    readonly limit: number;
    readonly cursor?: MessageName | undefined;
  }): Promise<DeadLetterListing>;
  get(name: MessageName): Promise<WholeDeadLetter | undefined>;
  /**
   * Sends it to the instance that should have received it or, if that one is gone, to this one. The receiver handles it like any message:
   * a report counts only if it names the current node and attempt (I4).
   */
  replay(name: MessageName): Promise<DeadLetterReplayResult>;
  purge(which: {
    readonly instanceId?: string | undefined;
    readonly olderThanMs?: number | undefined;
  }): Promise<DeadLetterPurge>;
  /** Removes the dead letters about these jobs, and those about jobs without a record: nothing else tells whose they are. */
  removeAbout(
    jobIds: ReadonlySet<JobId>,
  ): Promise<{ readonly removed: number; readonly unreachable: readonly string[] }>;
}

const ANSWER_MS = 1_000;
/** I11: one call removes no more than this, and reports that more are left. */
const MAX_PURGED = 5_000;
/** I11: one call reads the records of no more jobs than this. */
const MAX_CHECKED = 1_000;
const PURGE_STEP = 500;
const PAGE = 100;

export function createDeadLetterService(deps: {
  deadLetters: Omit<DeadLetters, 'orphan'>;
  inbox: Pick<Inbox, 'size'>;
  instances: Pick<Instances, 'all' | 'living'>;
  clock: Clock;
  log: Log;
  self: () => { readonly instanceId: string };
  /** A fenced instance may have been declared dead: it neither sends nor writes. */
  isFenced: () => boolean;
  /** Whether the job has a record. */
  isKnown: (jobId: JobId) => Promise<boolean>;
  answerMs?: number;
}): DeadLetterService {
  const { deadLetters, inbox, instances, clock, log, answerMs = ANSWER_MS } = deps;
  const withLimit = <T>(what: string, ask: () => Promise<T>): Promise<T> =>
    withTimeout(clock, answerMs, what, ask);

  /** Instances with dead letters, by name. Counting is cheap, so that only those with dead letters are read. */
  async function holders(only: string | undefined): Promise<{ holding: string[]; unreachable: string[] }> {
    const known =
      only === undefined
        ? await Promise.all([
            withLimit('the list of instances', () => instances.all()),
            withLimit('the list of removed instances', () => deadLetters.orphaned()),
          ])
        : [[only]];
    const names = [...new Set(known.flat())].sort();
    const sizes = await Promise.all(
      names.map((name) => withLimit(name, () => inbox.size(name)).catch(() => undefined)),
    );
    return {
      holding: names.filter((_, at) => (sizes[at]?.dead ?? 0) > 0),
      unreachable: names.filter((_, at) => sizes[at] === undefined),
    };
  }

  function refuseIfFenced(): void {
    if (deps.isFenced())
      throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'this instance is fenced and writes nothing');
  }

  async function list(query: Parameters<DeadLetterService['list']>[0]): Promise<DeadLetterListing> {
    const { instanceId: only, limit, cursor } = query;
    const { holding, unreachable } = await holders(only);
    const letters: (DeadLetter & MessageName)[] = [];
    for (const instanceId of holding.filter((name) => cursor === undefined || name >= cursor.instanceId)) {
      if (letters.length >= limit) return { letters, cursor: letters.at(-1), unreachable };
      const after = cursor?.instanceId === instanceId ? cursor.messageId : undefined;
      const max = limit - letters.length;
      try {
        const page = await withLimit(instanceId, () => deadLetters.list(instanceId, { max, after }));
        letters.push(...page.letters.map((letter) => ({ ...letter, instanceId })));
        if (!page.isLast) return { letters, cursor: letters.at(-1), unreachable };
      } catch {
        unreachable.push(instanceId);
      }
    }
    return { letters, unreachable };
  }

  return {
    list,

    get: ({ instanceId, messageId }) => withLimit(instanceId, () => deadLetters.get(instanceId, messageId)),

    async replay({ instanceId, messageId }) {
      refuseIfFenced();
      const self = deps.self().instanceId;
      const isThere = (await withLimit('presence', () => instances.living([instanceId]))).has(instanceId);
      let to = isThere ? instanceId : self;
      let result = await deadLetters.replay(instanceId, messageId, to);
      if (result === 'gone' && to !== self) {
        to = self;
        result = await deadLetters.replay(instanceId, messageId, to);
      }
      if (result === 'absent') return { kind: 'absent' };
      if (result === 'gone')
        throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `the inbox of ${to} is not open`);
      log.info({ of_instance: instanceId, message_id: messageId, to, result }, 'replayed a dead letter');
      return { kind: result, to };
    },

    async purge({ instanceId: only, olderThanMs }) {
      refuseIfFenced();
      const diedBefore = olderThanMs === undefined ? undefined : clock.now() - olderThanMs;
      const { holding, unreachable } = await holders(only);
      let purged = 0;
      let isDone = true;
      for (const instanceId of holding) {
        try {
          for (let isLast = false; isDone && !isLast; ) {
            const step = await deadLetters.purge(instanceId, { diedBefore, max: PURGE_STEP });
            purged += step.purged;
            isLast = step.isDone;
            isDone = purged < MAX_PURGED || (isLast && instanceId === holding.at(-1));
          }
        } catch {
          unreachable.push(instanceId);
        }
      }
      log.info({ of_instance: only, older_than_ms: olderThanMs, purged }, 'purged dead letters');
      return { purged, isDone, unreachable };
    },

    async removeAbout(jobIds) {
      refuseIfFenced();
      const unreachable = new Set<string>();
      let removed = 0;
      let cursor: MessageName | undefined;
      const forgotten = new Map<JobId, boolean>();
      async function isForgotten(jobId: JobId): Promise<boolean> {
        const found = forgotten.get(jobId);
        if (found !== undefined || forgotten.size >= MAX_CHECKED) return found === true;
        const answer = !(await deps.isKnown(jobId));
        forgotten.set(jobId, answer);
        return answer;
      }
      do {
        const page = await list({ limit: PAGE, cursor });
        for (const instanceId of page.unreachable) unreachable.add(instanceId);
        for (const { instanceId, messageId, head } of page.letters) {
          const { jobId } = headingOf(head);
          if (jobId === undefined) continue;
          if (jobIds.has(jobId)) removed += await deadLetters.remove(instanceId, [messageId]);
          else if (await isForgotten(jobId)) await deadLetters.remove(instanceId, [messageId]);
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
      return { removed, unreachable: [...unreachable] };
    },
  };
}

/** A single instance sends no messages. */
export const NO_DEAD_LETTERS: DeadLetterService = {
  list: async () => ({ letters: [], unreachable: [] }),
  get: async () => undefined,
  replay: async () => ({ kind: 'absent' }),
  purge: async () => ({ purged: 0, isDone: true, unreachable: [] }),
  removeAbout: async () => ({ removed: 0, unreachable: [] }),
};
