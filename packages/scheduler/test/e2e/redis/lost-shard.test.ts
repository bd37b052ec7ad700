/** I7 on a Cluster: while one shard and its replica are away, only keys on it are refused; everything else works. */
import { expect, it, onTestFinished } from 'vitest';
import { slotOf } from '../../../src/adapters/redis/connection/servers.ts';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { requestTag } from '../../../src/adapters/shared-jobs/job-scripts.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import { eventually } from '../../support/eventually.ts';
import { startCluster } from '../../support/redis-servers.ts';
import { type Instance, NOTICES_OUTAGES, startInstance } from '../multi-instance/start-instances.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';

/** Longer than the TTL of an instance's presence. */
const LONGER_THAN_LIFE_MS = 4_500;
const { digest } = createIdSource({ clock: systemClock, digestsRequests: true });

/** The first of the three masters is lost, with its replica. */
const isLost = (key: string): boolean => slotOf(key) < Math.floor(16_384 / 3);

function nameWhere(stem: string, isMeant: (name: string) => boolean): string {
  for (let at = 1; ; at += 1) if (isMeant(`${stem}-${at}`)) return `${stem}-${at}`;
}

/** The list of instances is lost as well: instances must live and send messages without it. */
const PREFIX = nameWhere('shard-away', (name) => isLost(createKeys(name).instances));
const keys = createKeys(PREFIX);

let requests = 0;
function requestOn(shard: 'lost' | 'there'): string {
  requests += 1;
  return nameWhere(
    `request-${requests}`,
    (name) => isLost(keys.job(requestTag(digest, 'default', name))) === (shard === 'lost'),
  );
}

/** The keys of the instance itself are on other shards. */
const instanceName = (stem: string): string =>
  nameWhere(stem, (name) => ![keys.presence(name), keys.instanceJobs(name), keys.inbox(name)].some(isLost));

it('a lost shard affects only its own keys, and recovers', async () => {
  const redis = await startCluster();
  const lost = [redis.servers[0], redis.servers[3]];
  const signal = (name: NodeJS.Signals): void => lost.forEach((server) => void server?.signal(name));
  onTestFinished(async () => {
    signal('SIGCONT');
    await redis.stop();
  });
  const start = (stem: string): Promise<Instance> =>
    startInstance(redis, PREFIX, {
      ...NOTICES_OUTAGES,
      'scheduler.cluster.instance_id': instanceName(stem),
    });
  const [a, b] = [await start('a'), await start('b')];
  const held = holdJobs();
  const there = nameWhere('node', (name) => !isLost(keys.nodeMeta(name)));
  const away = nameWhere('node', (name) => isLost(keys.nodeMeta(name)));
  await joinSdkNode({ url: a.nodeUrl, nodeId: there, maxConcurrentJobs: 50, onJob: async () => OUTPUT });
  await joinSdkNode({ url: a.nodeUrl, nodeId: away, maxConcurrentJobs: 50, onJob: held.onJob });
  for (const each of [a, b]) await each.readyNodes(2);
  // The job runs on a node whose leases are lost, and its record is lost, too.
  const running = await eventually(async () => {
    const job = await b.dispatch({ request_id: requestOn('lost') });
    return job.node_id === away ? job : undefined;
  });
  await eventually(async () => (await b.job(running.job_id)).state === 'RUNNING');

  signal('SIGSTOP');
  const lostAt = performance.now();
  // By the first failed call the instance finds out that the shard is away.
  await eventually(async () => (await b.tryDispatch({ request_id: requestOn('lost') })).status === 503);
  await eventually(async () => (await a.tryDispatch({ request_id: requestOn('lost') })).status === 503);
  for (let times = 0; times < 10 || performance.now() < lostAt + LONGER_THAN_LIFE_MS; times += 1) {
    for (const each of [a, b]) {
      const refused = await each.tryDispatch({ request_id: requestOn('lost') });
      expect([refused.status, refused.body.error]).toEqual([503, 'SCHEDULER_DEPENDENCY_DOWN']);
      const request_id = requestOn('there');
      // A busy machine may exceed the short timeouts here, too; the caller then repeats its request.
      const job = await eventually(() => each.dispatch({ request_id }));
      expect(job.node_id).toBe(there);
      expect(await b.settled(job.job_id)).toMatchObject({ result: OUTPUT });
    }
  }
  for (const each of [a, b]) expect((await each.get('/health/ready')).status).toBe(200);
  held.finish(OUTPUT);

  signal('SIGCONT');
  const done = await eventually(async () => {
    const job = await a.job(running.job_id);
    return job.state === 'RELEASED' ? job : undefined;
  });
  expect(done).toMatchObject({ result: OUTPUT, attempt_id: 1 });
  for (const each of [a, b]) {
    const job = await eventually(() => each.dispatch({ request_id: requestOn('lost') }));
    expect(await a.settled(job.job_id)).toMatchObject({ result: OUTPUT });
  }
});
