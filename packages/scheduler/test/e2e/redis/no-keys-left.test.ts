/** I2: after jobs, nodes and an instance have gone, Redis holds the same keys as before. */
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { KEY_TABLE } from '../../../src/adapters/redis/connection/key-table.ts';
import type { Keys } from '../../../src/adapters/redis/keys.ts';
import { keyPattern } from '../../../src/cli/docs/print-redis-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { startInstance } from '../multi-instance/start-instances.ts';
import { SHORT_PRESENCE } from '../multi-instance/start-processes.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { openSession, sessionUrl, spoken } from '../support/session-client.ts';
import type { Settings } from '../support/start-app.ts';

const JOBS = 60;
const PREFIX = 'nothing-left';
/** Names of nodes and dead instances, which stay so that they are recognised, and sessions, which can be resumed. */
const REMEMBERED =
  /nodes:\{node:[^}]*\}:(meta|capabilities|reserved|reserved_marks)$|nodes:owner:|schedulers:presence:|:\{session:/;
/** What tenants have used: kept for long on purpose. */
const OF_USAGE = /:v1:usage:/;
/** Keys that an idle instance writes all the time. */
const OF_THE_IDLE = /:v1:(stats|locks):/;
const HOUR_MS = 3_600_000;

/** The shortest retention of everything. */
const SHORT: Settings = {
  ...SHORT_PRESENCE,
  'scheduler.job_retention_ms': 1_500,
  'scheduler.task_binding.lease_seconds': 1,
  'scheduler.cluster.redis.command_timeout_ms': 1_200,
  'scheduler.reserve_timeout_ms': 1_200,
  'scheduler.ack_timeout_ms': 1_500,
  'scheduler.reservation_ttl_ms': 2_000,
  'scheduler.job_timeout_seconds': 3,
  'scheduler.job_deadline_ms': 12_000,
  'scheduler.pending_timeout_ms': 2_000,
  'scheduler.session_resume_ttl_ms': 1_000,
  'scheduler.node_reconnect_grace_ms': 100,
  'scheduler.node_health.heartbeat_interval_seconds': 0.5,
  'scheduler.node_health.heartbeat_timeout_seconds': 1.5,
  'scheduler.node_health.status_scan_interval_seconds': 0.2,
  'scheduler.heartbeat_stale_ms': 1_500,
  'scheduler.cluster.node_snapshot.refresh_interval_ms': 200,
  'scheduler.cluster.node_snapshot.remove_stale_after_seconds': 1,
};

/** The keys that docs/redis-keys.md does not list with this name and type. */
async function unlisted(client: Redis): Promise<string[]> {
  const listed = (Object.keys(KEY_TABLE) as (keyof Keys)[]).map((name) => {
    const escaped = keyPattern(name, PREFIX).replaceAll(/[{}.]/g, '\\$&');
    return { name: new RegExp(`^${escaped.replaceAll(/<\w+>/g, '[^{}]+')}$`), type: KEY_TABLE[name].type };
  });
  const found = await Promise.all(
    (await client.keys('*')).map(async (key) => ({ key, type: (await client.type(key)).toUpperCase() })),
  );
  return (
    found
      // "NONE": it has expired meanwhile.
      .filter(
        ({ key, type }) =>
          type !== 'NONE' && !listed.some((each) => each.name.test(key) && each.type === type),
      )
      .map(({ key, type }) => `${type} ${key}`)
  );
}

it('finished jobs, nodes, sessions and instances leave no keys; a run has only documented keys', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const client = new Redis(redis.settings.url);
  onTestFinished(() => client.disconnect());
  const a = await startInstance(redis, PREFIX, SHORT);
  const allKeys = (): Promise<string[]> => client.keys(`${PREFIX}:*`);
  const keys = async (): Promise<string[]> =>
    (await allKeys()).filter((key) => !OF_THE_IDLE.test(key) && !OF_USAGE.test(key)).sort();
  const baseline = await eventually(async () => {
    const now = await keys();
    return now.some((key) => key.endsWith(':figures')) ? now : undefined;
  });

  const b = await startInstance(redis, PREFIX, SHORT);
  let attempts = 0;
  const flaky = async (): Promise<typeof OUTPUT> => {
    attempts += 1;
    if (attempts % 5 === 0) throw new Error('not this time');
    return OUTPUT;
  };
  const nodes = await Promise.all(
    ['node-a', 'node-b', 'node-c', 'node-d'].map((nodeId, at) =>
      joinSdkNode({ url: at % 2 === 0 ? a.nodeUrl : b.nodeUrl, nodeId, onJob: flaky }),
    ),
  );
  const polling = {
    node_id: 'node-http',
    semantic_langs: ['fr', 'zh'],
    tts_langs: ['zh'],
    max_concurrent_jobs: 2,
    health: 'ready',
  };
  await b.post('/v1/node/register', polling);
  for (const each of [a, b]) await each.readyNodes(5);
  // No node fetches it: it ends at its deadline, in the mailbox of a removed node.
  const stuck = await a.dispatch({ src_lang: 'fr' });
  const session = await openSession({ url: sessionUrl(b) });
  session.send(spoken(session, 1));
  await session.outcome();
  /** Awaited from the beginning: on a busy machine the first is forgotten before the last has left. */
  const jobs: Promise<unknown>[] = [];
  for (let number = 0; number < JOBS; number += 1) {
    const { body } = await (number % 2 === 0 ? a : b).tryDispatch({
      request_id: `request-${number}`,
      wait_ms: 1_000,
    });
    if (body.job_id !== undefined) jobs.push(a.settled(body.job_id));
    if (number === JOBS / 2) nodes[3]?.kill();
  }
  expect(jobs.length).toBeGreaterThan(JOBS / 2);
  await Promise.all(jobs);
  // A busy instance has more keys: this shows that the comparison below works.
  expect((await keys()).length).toBeGreaterThan(baseline.length);
  expect(await unlisted(client)).toEqual([]);

  session.ws.close();
  await b.app.stop();
  for (const node of nodes) node.kill();
  await eventually(async () => ['FAILED', 'RELEASED', undefined].includes((await a.job(stuck.job_id)).state));
  const lives = async (): Promise<Record<string, number>> => {
    const left = (await keys()).filter((key) => !baseline.includes(key));
    const ttls = await Promise.all(left.map((key) => client.pttl(key)));
    return Object.fromEntries(left.map((key, at) => [key, ttls[at] ?? 0]));
  };
  await eventually(async () => {
    const left = Object.keys(await lives()).filter((key) => !REMEMBERED.test(key));
    if (left.length > 0) throw new Error(`left: ${left.join(' ')}`);
    return true;
  });
  const idle = (await allKeys()).filter((key) => OF_THE_IDLE.test(key));
  expect(idle).not.toEqual([]);
  const used = (await allKeys()).filter((key) => OF_USAGE.test(key) && !key.endsWith(':tenants'));
  expect(used).not.toEqual([]);
  for (const key of [...idle, ...used]) expect([key, await client.pttl(key)]).not.toEqual([key, -1]);
  // The rest expires, and no instance renews it. None of it is a live lease.
  const before = await lives();
  expect(Object.values(before).filter((ttlMs) => ttlMs < 0 || ttlMs > HOUR_MS)).toEqual([]);
  const seenAt = Date.now();
  await eventually(() => Date.now() > seenAt + 1_000);
  for (const [key, ttlMs] of Object.entries(await lives())) {
    expect([key, ttlMs < (before[key] ?? 0) - 900]).toEqual([key, true]);
    if (key.endsWith(':reserved'))
      expect([key, await client.zcount(key, Date.now(), '+inf')]).toEqual([key, 0]);
  }
});
