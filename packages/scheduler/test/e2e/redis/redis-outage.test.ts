/** I7: while Redis is dead or frozen, new work is refused and running work is not lost; afterwards everything continues. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { RedisServer } from '../../support/redis-servers.ts';
import { type Instance, NOTICES_OUTAGES, startInstances } from '../multi-instance/start-instances.ts';
import { SHORT_PRESENCE } from '../multi-instance/start-processes.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { connectSession, sessionUrl } from '../support/session-client.ts';

const OUTAGES = [
  {
    what: 'killed, and empty after its restart',
    settings: NOTICES_OUTAGES,
    lastsMs: 0,
    begin: (server: RedisServer) => server.signal('SIGKILL'),
    end: (server: RedisServer) => server.restart(),
  },
  {
    what: 'frozen for longer than the presence TTL',
    settings: { ...NOTICES_OUTAGES, ...SHORT_PRESENCE },
    lastsMs: 2_500,
    begin: (server: RedisServer) => server.signal('SIGSTOP'),
    end: async (server: RedisServer) => server.signal('SIGCONT'),
  },
];

describe('I7 fail closed, on one Redis', () => {
  it.each(OUTAGES)(
    'refuses new work and keeps sockets and results while Redis is $what',
    async ({ begin, end, settings, lastsMs }) => {
      const { redis, instances } = await startInstances(2, settings);
      const [a, b] = instances as [Instance, Instance];
      const server = redis.servers[0] as RedisServer;
      const held = holdJobs();
      const node = await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
      const session = connectSession({ url: sessionUrl(b) });
      await session.opened();
      await session.init();
      await b.readyNodes(1);
      // One job whose driver holds the node, and one with another driver.
      const jobs = [await a.dispatch({ request_id: 'local' }), await b.dispatch({ request_id: 'remote' })];
      await held.job(2);
      for (const { job_id } of jobs) await eventually(async () => (await a.job(job_id)).state === 'RUNNING');

      const begunAt = performance.now();
      begin(server);
      for (let times = 0; times < 4; times += 1) {
        const refused = await b.tryDispatch();
        expect(refused).toMatchObject({ status: 503, body: { error: 'SCHEDULER_DEPENDENCY_DOWN' } });
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      for (const each of [a, b]) {
        await eventually(async () => (await each.get('/health/ready')).status === 503);
        expect((await each.get('/health/live')).status).toBe(200);
      }
      held.finish(OUTPUT);
      await eventually(() => performance.now() > begunAt + lastsMs);

      await end(server);
      for (const { job_id } of jobs) {
        const done = await eventually(async () => {
          const job = await b.job(job_id);
          return job.state === 'RELEASED' ? job : undefined;
        });
        expect(done).toMatchObject({ result: OUTPUT, attempt_id: 1 });
      }
      await eventually(async () => (await a.get('/health/ready')).status === 200);
      const next = await eventually(async () => {
        const { status, body } = await b.tryDispatch();
        return status === 200 ? body : undefined;
      });
      expect(await a.settled(next.job_id)).toMatchObject({ result: OUTPUT });
      // Each running job ran once, and no node had to reconnect.
      expect(held.begun.map(({ job_id }) => job_id)).toEqual([...jobs, next].map(({ job_id }) => job_id));
      expect(node.metrics().reconnects).toBe(0);
      expect(session.ws.readyState).toBe(session.ws.OPEN);
    },
  );
});
