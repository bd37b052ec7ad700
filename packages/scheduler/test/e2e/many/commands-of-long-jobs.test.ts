/** What a job asks of Redis when its node, of another instance, works on it for longer than a reservation lasts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { connectLegacyNode, TRANSLATED } from '../support/legacy-node.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';
import { costOf, idleOf, sum, sumOfWhole, watch } from './wire-tap.ts';

/** Three messages, index, admit, reserve, two moves, commit, release; of a legacy node its holder writes one of the moves. */
const MOST = 10;
/** Longer than its reservation of 5 s, before whose end its holder keeps the slot unless its driver has. */
const WORK_MS = 6_000;
/** Not so soon after one another that they share messages or moves. */
const APART_MS = 400;
/** As long as everything that is asked by the clock takes to come round; all jobs take twice as long, so that it is counted as often as it is left out. */
const ROUND_MS = 10_000;
const SLOTS = 64;
const JOBS = (2 * ROUND_MS - WORK_MS) / APART_MS;

type Join = (url: string, workMs: () => number) => Promise<unknown>;

const joinSdk: Join = (url, workMs) =>
  joinSdkNode({
    url,
    nodeId: 'node-a',
    maxConcurrentJobs: SLOTS,
    onJob: () => new Promise((resolve) => setTimeout(resolve, workMs(), OUTPUT)),
  });

/** It says nothing of a job before its result: taking it from the wire is its acknowledgement. */
const joinField: Join = (url, workMs) =>
  connectLegacyNode({
    url,
    nodeId: 'node-a',
    answer(job, node) {
      setTimeout(() => node.reply(job, TRANSLATED), workMs());
      return undefined;
    },
  }).registered();

it.each([
  ['that acknowledges', joinSdk],
  ['legacy', joinField],
])(
  'a job that lasts for longer than its reservation asks at most 10 commands of Redis: one hand makes its lease last, on a node %s',
  {
    timeout: 90_000,
  },
  async (_, join) => {
    const { redis, instances } = await startInstances(2, {
      'scheduler.max_concurrent_jobs_per_node': SLOTS,
    });
    const [a, b] = instances as [Instance, Instance];
    let workMs = 50;
    await join(a.nodeUrl, () => workMs);
    await b.readyNodes(1);
    const seen = await watch(redis);
    const jobs = async (count: number): Promise<void> => {
      for (let job = 0; job < count; job += 1) {
        await b.dispatch();
        await sleep(APART_MS);
      }
      await eventually(() => b.app.jobs.inFlight() === 0, { withinMs: 2 * WORK_MS });
    };
    // Every script is known to the server, and every connection is made.
    await jobs(3);
    const idle = await idleOf(seen, ROUND_MS);
    workMs = WORK_MS;
    const cost = await costOf(seen, () => jobs(JOBS), { rounds: 1, together: JOBS, idle });
    const said = JSON.stringify(cost);
    expect(sumOfWhole(cost), said).toBeLessThanOrEqual(MOST);
    expect(sum(cost), said).toBeLessThanOrEqual(MOST + 1);
    const { 'commit-lease': commits = 0, 'keep-lease': keeps = 0 } = cost;
    expect(commits, said).toBeCloseTo(1, 1);
    expect(keeps, said).toBeLessThan(0.2);
  },
);
