/** Cold path: dead letters of all instances in one list, and what operators do with them. */
import { SchedulerError } from '../../domain/errors.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DeadLetter, DeadLetters, WholeDeadLetter } from '../../ports/dead-letters.ts';
import type { Inbox } from '../../ports/inbox.ts';
import type { Instances } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import type { MessageName } from '../messaging/message-name.ts';

export interface DeadLetterListing {
  /** By instance; of each the newest first. */
  readonly letters: readonly (DeadLetter & MessageName)[];
  /** A page may be short and have one all the same. */
  readonly cursor?: MessageName | undefined;
  /** Instances whose letters could not be asked for in time. */
  readonly unreachable: readonly string[];
}

export type DeadLetterReplayResult =
  | { readonly kind: 'replayed' | 'full'; readonly to: string }
  | { readonly kind: 'absent' };

export interface DeadLetterPurge {
  readonly purged: number;
  /** False: ask again for the rest. */
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
   * Into the inbox of the instance it was for or, if that one is gone, of this one. Whoever takes it out handles it like any
   * other letter: what it says of a job counts only if it names the current node and attempt (I4).
   */
  replay(name: MessageName): Promise<DeadLetterReplayResult>;
  purge(which: {
    readonly instanceId?: string | undefined;
    readonly olderThanMs?: number | undefined;
  }): Promise<DeadLetterPurge>;
}

const ANSWER_MS = 1_000;
/** I11: one order removes no more than this and says that there is more. */
const MOST_PURGED = 5_000;
const PURGE_STEP = 500;

export function createDeadLetterService(deps: {
  deadLetters: Omit<DeadLetters, 'orphan'>;
  inbox: Pick<Inbox, 'size'>;
  instances: Pick<Instances, 'all' | 'living'>;
  clock: Clock;
  log: Log;
  self: () => { readonly instanceId: string };
  /** It may have been taken for dead: it sends and writes nothing then. */
  isFenced: () => boolean;
  answerMs?: number;
}): DeadLetterService {
  const { deadLetters, inbox, instances, clock, log, answerMs = ANSWER_MS } = deps;
  const soon = <T>(what: string, ask: () => Promise<T>): Promise<T> =>
    withTimeout(clock, answerMs, what, ask);

  /** Who has dead letters, by name; counting is cheap, so that nobody is visited in vain. */
  async function holders(only: string | undefined): Promise<{ holding: string[]; unreachable: string[] }> {
    const known =
      only === undefined
        ? await Promise.all([
            soon('the list of instances', () => instances.all()),
            soon('the list of the gone', () => deadLetters.orphaned()),
          ])
        : [[only]];
    const names = [...new Set(known.flat())].sort();
    const sizes = await Promise.all(
      names.map((name) => soon(name, () => inbox.size(name)).catch(() => undefined)),
    );
    return {
      holding: names.filter((_, at) => (sizes[at]?.dead ?? 0) > 0),
      unreachable: names.filter((_, at) => sizes[at] === undefined),
    };
  }

  function refuseIfFenced(): void {
    if (deps.isFenced())
      throw new SchedulerError(
        'SCHEDULER_DEPENDENCY_DOWN',
        'this instance may have been taken for dead and writes nothing',
      );
  }

  return {
    async list({ instanceId: only, limit, cursor }) {
      const { holding, unreachable } = await holders(only);
      const letters: (DeadLetter & MessageName)[] = [];
      for (const instanceId of holding.filter((name) => cursor === undefined || name >= cursor.instanceId)) {
        if (letters.length >= limit) return { letters, cursor: letters.at(-1), unreachable };
        const after = cursor?.instanceId === instanceId ? cursor.messageId : undefined;
        const max = limit - letters.length;
        try {
          const page = await soon(instanceId, () => deadLetters.list(instanceId, { max, after }));
          letters.push(...page.letters.map((letter) => ({ ...letter, instanceId })));
          if (!page.isLast) return { letters, cursor: letters.at(-1), unreachable };
        } catch {
          unreachable.push(instanceId);
        }
      }
      return { letters, unreachable };
    },

    get: ({ instanceId, messageId }) => soon(instanceId, () => deadLetters.get(instanceId, messageId)),

    async replay({ instanceId, messageId }) {
      refuseIfFenced();
      const self = deps.self().instanceId;
      const isThere = (await soon('presence', () => instances.living([instanceId]))).has(instanceId);
      let to = isThere ? instanceId : self;
      let result = await deadLetters.replay(instanceId, messageId, to);
      if (result === 'gone' && to !== self) {
        to = self;
        result = await deadLetters.replay(instanceId, messageId, to);
      }
      if (result === 'absent') return { kind: 'absent' };
      if (result === 'gone')
        throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `the inbox of ${to} is not open`);
      log.info({ instance_id: instanceId, message_id: messageId, to, result }, 'a dead letter is replayed');
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
            isDone = purged < MOST_PURGED || (isLast && instanceId === holding.at(-1));
          }
        } catch {
          unreachable.push(instanceId);
        }
      }
      log.info({ instance_id: only, older_than_ms: olderThanMs, purged }, 'dead letters are purged');
      return { purged, isDone, unreachable };
    },
  };
}

/** One process that has no others writes no letters. */
export const NO_DEAD_LETTERS: DeadLetterService = {
  list: async () => ({ letters: [], unreachable: [] }),
  get: async () => undefined,
  replay: async () => ({ kind: 'absent' }),
  purge: async () => ({ purged: 0, isDone: true, unreachable: [] }),
};
