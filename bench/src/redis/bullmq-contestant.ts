/** BullMQ: add → worker → completed. Producer and worker share a process, as the engine and its null transport do. */
import { Queue, Worker } from 'bullmq';
import { RESULT, request } from '../embedded-engine.ts';
import type { Contestant } from './contestant.ts';

export async function createBullmqContestant(options: {
  port: number;
  prefix: string;
  concurrency: number;
}): Promise<Contestant> {
  const { prefix } = options;
  const connection = { host: '127.0.0.1', port: options.port, maxRetriesPerRequest: null };
  const flying = new Map<string, { left: () => void; serviceMs: number; end: (fault?: Error) => void }>();
  const queue = new Queue('jobs', { connection, prefix });
  const worker = new Worker(
    'jobs',
    async ({ id }) => {
      const flight = flying.get(id ?? '');
      flight?.left();
      const serviceMs = flight?.serviceMs ?? 0;
      if (serviceMs > 0) await new Promise((resolve) => setTimeout(resolve, serviceMs));
      return RESULT;
    },
    { connection, prefix, concurrency: options.concurrency },
  );
  worker.on('completed', ({ id }) => flying.get(id ?? '')?.end());
  worker.on('failed', (job, fault) => flying.get(job?.id ?? '')?.end(fault));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

  return {
    async run(left = () => {}, serviceMs = 0) {
      const { requestId = '', spec, need, tenantId, sessionId } = request();
      const ended = new Promise<void>((resolve, reject) => {
        flying.set(requestId, {
          left,
          serviceMs,
          end: (fault) => (fault === undefined ? resolve() : reject(fault)),
        });
      });
      // Named by its request, so that a repeat finds the job here too; the same words are stored.
      await queue.add('job', { tenantId, sessionId, spec, need }, { jobId: requestId });
      await ended;
      flying.delete(requestId);
    },
    async tidy() {
      while ((await queue.clean(0, 10_000, 'completed')).length > 0) {}
    },
    otherCpuMicros: async () => 0,
    async stop() {
      await worker.close();
      await queue.close();
    },
  };
}
