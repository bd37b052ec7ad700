/** One of three instances is stopped under load: clients only reconnect, and no job is lost or repeated. */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createBalancer } from '../../../../../proof/src/chaos/wire/balancer.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { ensureBuilt } from '../support/ensure-built.ts';
import { connectLegacyNode, TRANSLATED } from '../support/legacy-node.ts';
import { joinSdkNode } from '../support/sdk-node.ts';
import { startTalker, textOf, understand } from '../support/session-talk.ts';
import { startLoad } from './load.ts';
import { type InstanceProcess, startProcess } from './start-processes.ts';

beforeAll(ensureBuilt, 150_000);

const TEST_MS = 120_000;
/** As legacy nodes do, and only once. */
const FIELD_RECONNECT_MS = 5_000;
const UTTERANCES = 16;

it(
  'a stopped instance loses no job, and its nodes move to survivors',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const start = (name: string) => startProcess(redis, 'rolling', name);
    const [a, b, c]: [InstanceProcess, InstanceProcess, InstanceProcess] = [
      await start('a'),
      await start('b'),
      await start('c'),
    ];
    // As a load balancer does: to an instance that is ready.
    let ready: readonly InstanceProcess[] = [a, b, c];
    const { port, close } = await createBalancer({
      backends: () => ready.map(({ instanceId, url }) => ({ instance: instanceId, port: portOf(url) })),
    });
    onTestFinished(close);

    const begun = new Map<string, number>();
    let works = 0;
    const hear = understand(() => 20 + ((works++ * 37) % 150));
    const nodes = await Promise.all(
      [a, b, c].map(({ nodeUrl, instanceId }, at) =>
        joinSdkNode({
          // The node that moves connects through the balancer; the others stay.
          url: at === 0 ? `ws://127.0.0.1:${port}/ws/node` : nodeUrl,
          nodeId: `node-${instanceId}`,
          maxConcurrentJobs: 8,
          async onJob(job, context) {
            begun.set(job.job_id, (begun.get(job.job_id) ?? 0) + 1);
            return hear(job, context);
          },
        }),
      ),
    );
    const field = await connectLegacyNode({
      url: `ws://127.0.0.1:${port}/ws/node`,
      nodeId: 'node-field',
      reconnectMs: FIELD_RECONNECT_MS,
      answer: ({ audio }) => ({ ...TRANSLATED, text_asr: textOf(Buffer.from(audio, 'base64')) }),
    }).registered();
    for (const each of [a, b, c]) await each.readyNodes(4);
    const holders = async (each: InstanceProcess) =>
      Object.fromEntries((await each.nodes()).map(({ node_id, instance_id }) => [node_id, instance_id]));
    expect(await holders(b)).toMatchObject({ 'node-a': 'a', 'node-field': 'a' });

    const load = startLoad(() => ready, { hands: 6, pauseMs: 60 });
    const talker = startTalker(1, { url: `ws://127.0.0.1:${port}/ws/session` });
    await eventually(() => load.accepted.length > 30);
    for (let number = 1; number <= UTTERANCES; number += 1) {
      talker.say(number % 2 === 0 ? 'a' : 'b', number % 3 === 0 ? 'whole' : 'pieces');
      if (number !== UTTERANCES / 2) continue;
      await eventually(() => talker.heard.length > 0);
      a.process.signal('SIGTERM');
      await eventually(async () => (await a.get('/health/ready')).status === 503);
      ready = [b, c];
    }
    expect((await a.process.ended).code).toBe(0);

    await eventually(async () => {
      const held = await holders(c);
      return [held['node-a'], held['node-field']].every((holder) => holder === 'b' || holder === 'c');
    });
    await b.readyNodes(4);
    const { length: served } = field.jobs;
    await eventually(() => field.jobs.length > served);
    await load.stop();
    await talker.session.settled();

    const jobs = await load.outcomes(b);
    expect(jobs.filter(({ result }) => result?.success !== true)).toEqual([]);
    expect(new Set(load.accepted).size).toBe(load.accepted.length);
    // A request that was refused before the instance was known to be unready may be repeated.
    expect(load.refused.filter(({ status }) => status !== 503)).toEqual([]);
    expect([...begun.values()].filter((times) => times > 1)).toEqual([]);
    expect(talker.heard.map(({ requestId, text, reason }) => [requestId, text ?? reason])).toEqual([
      ...talker.said,
    ]);
    expect(talker.errors).toEqual([]);
    expect(nodes.map((node) => node.metrics().reconnects)).toEqual([1, 0, 0]);
    expect([field.connections(), field.isOpen()]).toEqual([2, true]);
    // A graceful leave is not a death: no warning of it, and nothing that LinguaInstanceDied counts.
    for (const each of [b, c]) {
      expect(each.process.out()).not.toContain('took over from a dead instance');
      const { body } = await each.get<string>('/metrics');
      expect(body).not.toMatch(/^scheduler_takeovers_total [1-9]/m);
    }
  },
  TEST_MS,
);

const portOf = (url: string): number => Number(new URL(url).port);
