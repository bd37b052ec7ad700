/** BullMQ as a contestant: whole jobs, from being added to being completed, on the same redis-server. */
import { createBullmqContestant } from '../redis/bullmq-contestant.ts';
import { IN_FLIGHT, type JobTarget } from './job-target.ts';

export async function createBullmqTarget(redisPort: number): Promise<JobTarget> {
  const bullmq = await createBullmqContestant({ port: redisPort, prefix: 'bullmq', concurrency: IN_FLIGHT });
  return {
    async run(_, left) {
      await bullmq.run(left);
      return true;
    },
    beat: async () => {},
    tidy: () => bullmq.tidy(),
  };
}
