/**
 * What an instance does by the clock in its own slot, as one command: a round. It writes how much the instance has to do, and says
 * something to its ear. What may wait goes along and costs nothing of its own: messages that were handled, jobs that ended. Whoever
 * has them to give knows what to do if no round comes, or one fails. Cold path.
 */
import type { Clock } from '../../ports/clock.ts';
import type { HandledMessages } from '../../ports/inbox.ts';
import type { EndedJobs } from '../shared-jobs/job-scripts.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createMakeRound, type Round } from './instance-rounds/make-round.ts';
import type { IndexLimits } from './job-store/index-jobs.ts';
import type { Keys } from './keys.ts';

/** Something to be said to one's own ear, and whoever waits to know whether it was. */
export interface Word {
  readonly way: Exclude<Round['way'], 'none'>;
  said(isSaid: boolean): void;
}

/** Each is asked once per round, and gives little enough that the script does not keep its server for long. */
export interface RoundParts {
  readonly messages?: () => HandledMessages | undefined;
  readonly jobs?: { readonly limits: IndexLimits; take(): EndedJobs | undefined };
  readonly ear?: () => Word | undefined;
}

export interface InstanceRounds {
  /** From its next round on. What it gave before of the same kind is asked no more. */
  join(instanceId: string, parts: RoundParts): void;
  make(instanceId: string, figures: Round['figures']): Promise<void>;
}

export function createInstanceRounds(deps: {
  connection: RedisConnection;
  keys: Keys;
  clock: Clock;
  /** Of those who read inboxes. */
  group: string;
}): InstanceRounds {
  const makeRound = createMakeRound(deps.connection, deps.keys, deps.group);
  /** Of this process: one, or as many as a test has. */
  const joined = new Map<string, RoundParts>();

  return {
    join(instanceId, parts) {
      joined.set(instanceId, { ...joined.get(instanceId), ...parts });
    },

    async make(instanceId, figures) {
      const { messages, jobs, ear } = joined.get(instanceId) ?? NOBODY;
      const handled = messages?.();
      const ended = jobs?.take();
      const word = ear?.();
      const round: Round = {
        figures,
        way: word?.way ?? 'none',
        messageIds: handled?.messageIds ?? [],
        jobs: ended ?? NO_JOBS,
        limits: jobs?.limits ?? NO_LIMITS,
        now: deps.clock.now(),
      };
      try {
        const said = await makeRound(instanceId, round);
        word?.said(said === 'said');
        handled?.settle();
        ended?.settle();
      } catch (fault) {
        word?.said(false);
        handled?.settle(fault);
        ended?.settle(fault);
        throw fault;
      }
    },
  };
}

const NOBODY: RoundParts = {};
const NO_JOBS: Round['jobs'] = { ended: new Map(), dropped: new Set() };
/** Of no index. */
const NO_LIMITS: IndexLimits = { liveMarginMs: 0, retentionMs: 0, maxRetained: 0 };
