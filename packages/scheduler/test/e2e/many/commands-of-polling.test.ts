/** What a job asks of Redis when its node polls over HTTP, whichever instances the node speaks to, and however long it works. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstances } from './start-instances.ts';
import { type Cost, costOf, idleOf, sum, sumOfWhole, watch } from './wire-tap.ts';

const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};
/** Put, taken, admitted, reserved, two moves, released, indexed; and a look in vain by a node that wanders. */
const MOST = 10;
/** As long as a job usually stays at its node. */
const WORK_MS = 300;
/** Longer than a reservation has to be looked after by anybody. */
const LONG_WORK_MS = 4_300;
/** As long as everything that is asked by the clock takes to come round, so that no more of that is counted than is left out. */
const ROUND_MS = 10_000;
const JOBS = 20;
const LONG_JOBS = 3;

interface Fetched {
  readonly jobs: readonly { readonly job_id: string; readonly attempt_id: number }[];
}

/** Where the node says what. */
interface Stops {
  readonly poll: Instance;
  readonly ack: Instance;
  readonly done: Instance;
}

/** Fetches, acknowledges, works and answers, one job after the other, until the test ends. */
function startPolling(stopsOf: (job: number) => Stops, workMs: number): void {
  const state = { isOn: true, job: 0 };
  const work = async (): Promise<void> => {
    while (state.isOn) {
      const { poll, ack, done } = stopsOf(state.job);
      const { jobs } = (await poll.get<Fetched>(`/v1/node/${NODE.node_id}/jobs?wait_ms=5000`)).body;
      for (const { job_id, attempt_id } of jobs ?? []) {
        const report = { job_id, attempt_id, node_id: NODE.node_id };
        await ack.post('/v1/job/ack', report);
        await sleep(workMs);
        await done.post('/v1/job/done', { ...report, text_asr: 'hello', text_translated: '你好' });
        state.job += 1;
      }
    }
  };
  const working = work();
  onTestFinished(() => {
    state.isOn = false;
    return working;
  });
}

/** Per job, with the node's words going where they are said to, and the job driven by the first of three instances. */
async function costOfPolling(
  stopsOf: (instances: readonly [Instance, Instance, Instance], job: number) => Stops,
  workMs: number,
  rounds: number,
): Promise<{ readonly cost: Cost; readonly idle: Cost }> {
  const { redis, instances } = await startInstances(3);
  const all = instances as [Instance, Instance, Instance];
  const [driver, other] = all;
  await other.post('/v1/node/register', NODE);
  await driver.readyNodes(1);
  startPolling((job) => stopsOf(all, job), workMs);
  const seen = await watch(redis);
  const one = async (): Promise<void> => {
    await driver.dispatch();
    await eventually(() => driver.app.jobs.inFlight() === 0);
  };
  // Every script is known to the server, every connection is made, and every mailbox listened to.
  await costOf(seen, one, { rounds: 3 });
  const idle = await idleOf(seen, ROUND_MS);
  return { cost: await costOf(seen, one, { rounds, idle }), idle };
}

/** By turns, so that every instance hears every word. */
const BY_TURNS = (all: readonly [Instance, Instance, Instance], job: number): Stops => {
  const at = (word: number): Instance => all[(job + word) % all.length] ?? all[0];
  return { poll: at(0), ack: at(1), done: at(2) };
};

it.each([
  ['to the instance that drives it', ([a]) => ({ poll: a, ack: a, done: a })],
  ['to another', ([, b]) => ({ poll: b, ack: b, done: b })],
  ['to those by turns', BY_TURNS],
  [
    'each of its words to one that has heard nothing of the job',
    ([a, b, c]) => ({ poll: a, ack: b, done: c }),
  ],
] satisfies [string, typeof BY_TURNS][])(
  'a job whose node polls asks at most 10 commands of Redis, if the node speaks %s',
  { timeout: 90_000 },
  async (_, stopsOf) => {
    const { cost } = await costOfPolling(stopsOf, WORK_MS, JOBS);
    expect(sumOfWhole(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST);
    // What the clock asks more than while nothing happened comes on top.
    expect(sum(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST);
    // Nobody looks where nothing can be, unless jobs have come since that were fetched elsewhere; nobody listens anew for every job,
    // writes a message about it, or asks the store who drives it.
    const {
      'take-entries': takes = 0,
      ssubscribe = 0,
      sunsubscribe = 0,
      'send-messages': messages = 0,
      hmget = 0,
    } = cost;
    expect(takes, JSON.stringify(cost)).toBeLessThan(2.5);
    expect(ssubscribe + sunsubscribe + messages + hmget, JSON.stringify(cost)).toBeLessThan(0.5);
    // Its lease lasts since it was fetched.
    const { 'commit-lease': commits = 0, 'keep-lease': keeps = 0 } = cost;
    expect(commits + keeps, JSON.stringify(cost)).toBeLessThan(0.5);
  },
);

it('a job that works for long asks no more, if its node polls and speaks to three instances by turns', {
  timeout: 90_000,
}, async () => {
  const { cost, idle } = await costOfPolling(BY_TURNS, LONG_WORK_MS, LONG_JOBS);
  // In so long a time the clock asks far more than a job: of what it asks, too, only the two looks into the mailbox are for jobs.
  const own = Object.fromEntries(Object.entries(cost).filter(([name]) => !Object.hasOwn(idle, name)));
  expect(sumOfWhole(own), JSON.stringify(cost)).toBeLessThanOrEqual(MOST - 2);
  expect([own['commit-lease'], own['keep-lease']]).toEqual([undefined, undefined]);
});
