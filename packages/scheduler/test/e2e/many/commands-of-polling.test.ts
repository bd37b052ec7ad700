/** What a job asks of Redis when its node polls over HTTP: at the instance that drives the job, and at another. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstances } from './start-instances.ts';
import { costOf, idleOf, sum, sumOfWhole, watch } from './wire-tap.ts';

const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};
/** Put, taken, admitted, reserved, two moves, committed or kept, released, indexed. */
const MOST = 10;
/** As long as a job usually stays at its node. */
const WORK_MS = 300;
/** As long as everything that is asked by the clock takes to come round, so that no more of that is counted than is left out. */
const ROUND_MS = 10_000;
const JOBS = 30;

interface Fetched {
  readonly jobs: readonly { readonly job_id: string; readonly attempt_id: number }[];
}

/** Fetches, acknowledges, works and answers, one job after the other, until the test ends. */
function startPolling(at: Instance): void {
  const state = { isOn: true };
  const work = async (): Promise<void> => {
    while (state.isOn) {
      const { jobs } = (await at.get<Fetched>(`/v1/node/${NODE.node_id}/jobs?wait_ms=5000`)).body;
      for (const { job_id, attempt_id } of jobs ?? []) {
        const report = { job_id, attempt_id, node_id: NODE.node_id };
        await at.post('/v1/job/ack', report);
        await sleep(WORK_MS);
        await at.post('/v1/job/done', { ...report, text_asr: 'hello', text_translated: '你好' });
      }
    }
  };
  const working = work();
  onTestFinished(() => {
    state.isOn = false;
    return working;
  });
}

it('a job whose node polls asks at most 10 commands of Redis, also if the node polls at another instance than its driver', {
  timeout: 90_000,
}, async () => {
  const { redis, instances } = await startInstances(2);
  const [a, b] = instances as [Instance, Instance];
  await a.post('/v1/node/register', NODE);
  await b.readyNodes(1);
  startPolling(a);
  const seen = await watch(redis);
  const one = (driver: Instance) => async (): Promise<void> => {
    await driver.dispatch();
    await eventually(() => driver.app.jobs.inFlight() === 0);
  };
  // Every script is known to the server, and every connection is made.
  for (const each of [a, b]) await costOf(seen, one(each), { rounds: 2 });
  const idle = await idleOf(seen, ROUND_MS);
  for (const driver of [a, b]) {
    const cost = await costOf(seen, one(driver), { rounds: JOBS, idle });
    expect(sumOfWhole(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST);
    expect(sum(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST);
    // Nobody looks where nothing can be, listens anew for every job, or asks who drives it.
    const { 'take-entries': takes = 0, ssubscribe = 0, sunsubscribe = 0, hmget = 0 } = cost;
    expect(takes, JSON.stringify(cost)).toBeLessThan(1.5);
    expect(ssubscribe + sunsubscribe + hmget, JSON.stringify(cost)).toBeLessThan(0.5);
    // One hand makes its lease last: the other is needed for longer jobs only.
    const { 'commit-lease': commits = 0, 'keep-lease': keeps = 0 } = cost;
    expect(commits + keeps, JSON.stringify(cost)).toBeLessThan(1.5);
  }
});
