/** Typed wrapper of make-round.lua. */
import type { EndedJobs } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { IndexLimits } from '../job-store/index-jobs.ts';
import type { Keys } from '../keys.ts';

export interface Round {
  readonly figures: { readonly text: string; readonly lifeMs: number };
  readonly way: 'sharded' | 'plain' | 'none';
  readonly messageIds: readonly string[];
  readonly jobs: Pick<EndedJobs, 'ended' | 'dropped'>;
  readonly limits: IndexLimits;
  /** By the clock of the instance. */
  readonly now: number;
}

export function createMakeRound(connection: RedisConnection, keys: Keys, group: string) {
  const run = loadScript(connection, import.meta.url, 'make-round');
  return async (instanceId: string, round: Round): Promise<'said' | 'silent'> => {
    const { figures, way, messageIds, jobs, limits, now } = round;
    const { liveMarginMs, retentionMs, maxRetained } = limits;
    const { ended, dropped } = jobs;
    const said = [figures.text, figures.lifeMs, keys.instanceMessages(instanceId), way];
    const bounds = [now, liveMarginMs, retentionMs, maxRetained, messageIds.length, ended.size];
    const settled = [...ended].flatMap(([jobId, deadlineAt]) => [deadlineAt, jobId]);
    const [word] = await run(
      [
        keys.instanceFigures(instanceId),
        keys.inbox(instanceId),
        keys.instanceJobs(instanceId),
        keys.instanceSettledJobs(instanceId),
      ],
      [...said, group, ...bounds, ...messageIds, ...settled, ...dropped],
    );
    return word === 'said' ? 'said' : 'silent';
  };
}
