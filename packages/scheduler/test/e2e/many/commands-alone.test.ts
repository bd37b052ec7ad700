/** What a job asks of Redis that is alone for ten seconds, with all that it leaves behind: nobody is there to share any of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';
import { type Cost, costOf, sum, watch } from './wire-tap.ts';

/** Three sends, index, admit, reserve, two moves, release. */
const MOST_ALONE = 9;
/** As long as a job usually stays at its node. */
const WORK_MS = 300;
/** From one job to the next: longer than anything waits to be shared. */
const ALONE_MS = 10_500;
/** Longer than that by what is asked most seldom, and in lumps: so many lumps are not in any round. */
const IDLE_MS = ALONE_MS + 2_000;
const JOBS = 3;
/** What nodes report is not for jobs, and would hide a hint. */
const SELDOM = {
  'scheduler.node_health.heartbeat_interval_seconds': 300,
  'scheduler.node_health.heartbeat_timeout_seconds': 900,
};

/** What is asked in every round, and more often than while nothing happens: few rounds do not even out what the clock asks. */
function leastBeyond(rounds: readonly Cost[], idle: Cost): Cost {
  const beyond = Object.keys(rounds[0] ?? {}).map((name): [string, number] => {
    const least = Math.min(...rounds.map((round) => round[name] ?? 0));
    return [name, Math.max(0, least - (idle[name] ?? 0))];
  });
  return Object.fromEntries(beyond.filter(([, count]) => count > 0));
}

it('a lone job on another instance’s node pays for nothing that others would share', {
  timeout: 120_000,
}, async () => {
  const { redis, instances } = await startInstances(2, SELDOM);
  const [a, b] = instances as [Instance, Instance];
  await joinSdkNode({
    url: a.nodeUrl,
    nodeId: 'node-a',
    maxConcurrentJobs: 64,
    onJob: () => new Promise((resolve) => setTimeout(resolve, WORK_MS, OUTPUT)),
  });
  await b.readyNodes(1);
  const seen = await watch(redis);
  const one = async (): Promise<void> => {
    await b.dispatch();
    await eventually(() => b.app.jobs.inFlight() === 0);
  };
  const rounds: Cost[] = [];
  for (let done = 0; done < JOBS; done += 1)
    rounds.push(await costOf(seen, () => Promise.all([one(), sleep(ALONE_MS)]), { rounds: 1 }));
  const idle = await costOf(seen, () => sleep(IDLE_MS), { rounds: 1 });
  const cost = leastBeyond(rounds, idle);
  expect(cost).toMatchObject({ 'admit-job': 1, 'index-jobs': 1, 'send-messages': 3 });
  expect(sum(cost), JSON.stringify({ cost, rounds, idle })).toBeLessThanOrEqual(MOST_ALONE);
  // By the clock: what an instance writes in its own slot is one command.
  const { 'make-round': made = 0, spublish = 0 } = idle;
  expect(made, JSON.stringify(idle)).toBeGreaterThan(spublish);
});
