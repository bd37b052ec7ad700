/** Under load, one master of the Cluster is killed and another is frozen: the rest works on, and no job is lost, repeated or left. */
import { type Cluster, Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { connectRedis } from '../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { type RedisServer, type RedisUnderTest, startCluster } from '../../support/redis-servers.ts';
import { type Load, startLoad } from '../multi-instance/load.ts';
import { type Instance, NOTICES_OUTAGES, startInstance } from '../multi-instance/start-instances.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';

const TEST_MS = 600_000;
/** DESIGN §3: leases that a failover lost may be given out twice until the replay. */
const REASSERTED_MS = 2_000;
/** Long enough for jobs that keep their lease until their outcome can be written. */
const SLOTS = 64;
const NODES = ['node-a', 'node-b', 'node-c', 'node-d', 'node-e', 'node-f'];

async function startServers(): Promise<RedisUnderTest> {
  const redis = await startCluster();
  onTestFinished(async () => {
    for (const server of redis.servers) server.signal('SIGCONT');
    await redis.stop();
  });
  return redis;
}

/** With the timeouts of an instance: another client would wait for a frozen master for ever. */
function connect({ settings }: RedisUnderTest): Cluster {
  const client = connectRedis(settings, { name: 'test' });
  onTestFinished(() => client.disconnect());
  return client as Cluster;
}

/** A client of one server only: the search of instances for a new master must not affect it. */
function talkTo({ port }: RedisServer): Redis {
  const plain = new Redis({ host: '127.0.0.1', port, commandTimeout: 20_000, maxRetriesPerRequest: 0 });
  plain.on('error', () => undefined);
  onTestFinished(() => plain.disconnect());
  return plain;
}

/** The master of the hash slot, as this server knows it. */
async function portOfMaster(server: Redis, slot: number): Promise<number | undefined> {
  const lines = String(await server.cluster('NODES')).split('\n');
  const line = lines.find((each) => {
    const [, , flags = '', , , , , , ...ranges] = each.split(' ');
    if (!flags.includes('master') || flags.includes('fail')) return false;
    return ranges.some((range) => {
      const [from = Number.NaN, to = from] = range.split('-').map(Number);
      return from <= slot && slot <= to;
    });
  });
  return line === undefined ? undefined : Number(/:(\d+)@/.exec(line)?.[1]);
}

/** How often a node received more jobs than it has slots. */
async function overloads(instances: readonly Instance[]): Promise<number> {
  const pages = await Promise.all(
    instances.map(({ url }) => fetch(`${url}/metrics`).then((page) => page.text())),
  );
  const values = pages.flatMap((page) => [
    ...page.matchAll(/^scheduler_node_overload_reject_total\S* (\d+)/gm),
  ]);
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Waits until many requests were accepted and no node was overloaded for as long as a replay may take. */
async function recovery({ accepted }: Load, instances: readonly Instance[]): Promise<void> {
  const acceptedBefore = accepted.length;
  let [seen, since] = [-1, 0];
  await eventually(async () => {
    const now = await overloads(instances);
    if (now !== seen) [seen, since] = [now, performance.now()];
    return performance.now() > since + REASSERTED_MS && accepted.length > acceptedBefore + 100;
  });
}

const work = (): Promise<typeof OUTPUT> =>
  new Promise((resolve) => setTimeout(() => resolve(OUTPUT), 20 + 40 * Math.random()));

it(
  'replaced masters lose no accepted job and leave no lease',
  async () => {
    const redis = await startServers();
    const keys = createKeys('failover');
    const instances: Instance[] = [];
    for (let at = 0; at < 3; at += 1) instances.push(await startInstance(redis, 'failover', NOTICES_OUTAGES));
    const [a, b, c] = instances as [Instance, Instance, Instance];
    const nodes = await Promise.all(
      NODES.map((nodeId, at) =>
        joinSdkNode({
          url: [a, b, c][at % 3]?.nodeUrl ?? '',
          nodeId,
          maxConcurrentJobs: SLOTS,
          onJob: work,
        }),
      ),
    );
    for (const each of instances) await each.readyNodes(NODES.length);
    const client = connect(redis);
    // Many concurrent requests: one whose job is under way when the master is lost is answered after the failover.
    const load = startLoad(() => instances, { hands: 40, pauseMs: 400 });
    let overloadsAllowed = 0;
    const lost = new Set<RedisServer>();

    // The master with the list of instances, and the one with the jobs of an instance.
    for (const [signal, key] of [
      ['SIGKILL', keys.instances],
      ['SIGSTOP', keys.instanceJobs(a.instanceId)],
    ] as const) {
      const settled = load.accepted.length;
      await eventually(() => load.accepted.length > settled + 50);
      expect(await overloads(instances)).toBe(overloadsAllowed);
      const slot = await client.cluster('KEYSLOT', key);
      const portOfLost = await portOfMaster(
        talkTo(redis.servers.find((server) => !lost.has(server)) as RedisServer),
        slot,
      );
      const master = redis.servers.find(({ port }) => port === portOfLost) as RedisServer;
      const survivors = redis.servers.filter((server) => server !== master && !lost.has(server)).map(talkTo);
      lost.add(master);
      const before = load.accepted.length;
      master.signal(signal);
      await eventually(async () => {
        const named = await Promise.all(survivors.map((server) => portOfMaster(server, slot)));
        return named.some((port) => port !== undefined && port !== master.port);
      });
      // Jobs on the other masters continue before the failover.
      expect(load.accepted.length).toBeGreaterThan(before);
      await recovery(load, instances);
      overloadsAllowed = await overloads(instances);
    }

    await load.stop();
    const jobs = await load.outcomes(b);
    expect(jobs.filter(({ result }) => result?.text_translated !== OUTPUT.text_translated)).toEqual([]);
    expect(new Set(load.accepted).size).toBe(load.accepted.length);
    await eventually(async () => {
      const left = await Promise.all(
        NODES.map((nodeId) => client.zrangebyscore(keys.nodeLeases(nodeId), Date.now(), '+inf')),
      );
      if (left.flat().length > 0) throw new Error(`leases are left: ${left.flat().join(' ')}`);
      return true;
    });
    expect(nodes.map((node) => node.metrics().reconnects)).toEqual(NODES.map(() => 0));
  },
  TEST_MS,
);
