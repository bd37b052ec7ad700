/** A process with one server of a scenario: an instance of the scheduler, or a bare server that shows what is possible at all. */
import type { AddressInfo } from 'node:net';
import { collectGarbage, cpuMicros } from '../measure.ts';
import { OURS, type Who } from '../scenario/vocabulary.ts';
import { serve, startedWith } from './child.ts';
import { startEchoServer } from './echo-server.ts';
import { type PauseFigures, watchPauses } from './watch-pauses.ts';

export interface ServerStart {
  readonly who: Who;
  /** Absent: in memory. */
  readonly redis?: { readonly port: number; readonly prefix: string };
}

export interface ServerOrder {
  readonly collects: boolean;
}

export interface ServerReport {
  readonly rssBytes: number;
  readonly cpuMicros: number;
  /** Since the last request. */
  readonly pauses: PauseFigures;
}

const ROOMY = [
  'server.port=0',
  'scheduler.fleet_warmup_ms=0',
  'server.limits.requests_per_second=1000000',
  'server.limits.requests_per_second_per_tenant=1000000',
  'server.limits.messages_per_second=100000',
  'server.limits.messages_burst=100000',
  'server.limits.max_connections=30000',
  'server.limits.max_connections_per_tenant=30000',
  'server.limits.max_connections_per_address=30000',
  'session.max_utterances=1000',
];

/** Returns the port. Only what a server needs is loaded for it: a bare one must weigh what it weighs by itself. */
async function startScheduler({ redis }: ServerStart): Promise<number> {
  const { QUIET } = await import('../engine.ts');
  if (redis !== undefined) {
    const { sharedFlags, startSharedApp } = await import('../redis/app-contestant.ts');
    return (await startSharedApp([...sharedFlags(redis.port, redis.prefix), ...ROOMY])).port;
  }
  const { benchConfig } = await import('../embedded-engine.ts');
  const { createApp } = await import('../../../packages/scheduler/dist/app/create-app.js');
  return (await createApp({ config: benchConfig(ROOMY), log: QUIET }).start()).port;
}

async function startFastify(): Promise<number> {
  const [{ fastify }, { DispatchRequest }] = await Promise.all([
    import('fastify'),
    import('@lingua/protocol'),
  ]);
  // Our schemas carry notes for the documents, which the validator must ignore.
  const app = fastify({ ajv: { customOptions: { strict: false } } });
  const reply = { job_id: 'job-1', node_id: 'node-1', attempt_id: 1 };
  app.post('/v1/dispatch/f2f', { schema: { body: DispatchRequest } }, () => reply);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

const start = startedWith<ServerStart>();
const port =
  start.who === OURS
    ? await startScheduler(start)
    : await (start.who === 'fastify' ? startFastify() : startEchoServer());
const pausesSince = watchPauses();

serve({ port }, async ({ collects }: ServerOrder): Promise<ServerReport> => {
  // The request for the figures must not count as a pause.
  const pauses = pausesSince();
  if (collects) await collectGarbage();
  const report = { rssBytes: process.memoryUsage.rss(), cpuMicros: cpuMicros(), pauses };
  pausesSince();
  return report;
});
