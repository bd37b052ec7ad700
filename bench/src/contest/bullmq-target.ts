/** BullMQ as a contestant: whole jobs, from being added to being completed, on the same redis-server. */
import { createBullmqContestant } from '../redis/bullmq-contestant.ts';
import type { JobTarget } from './job-target.ts';

export async function createBullmqTarget(redisPort: number, inFlight: number): Promise<JobTarget> {
  const bullmq = await createBullmqContestant({
    port: redisPort,
    prefix: 'bullmq',
    concurrency: Math.max(1, inFlight),
  });
  return {
    async run({ serviceMs }, left) {
      await bullmq.run(left, serviceMs);
      return true;
    },
    beat: async () => {},
    tidy: () => bullmq.tidy(),
  };
}
