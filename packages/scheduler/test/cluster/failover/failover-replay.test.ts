/** A store that may have lost writes is told again what is true: slots first, then jobs, and nothing is reserved meanwhile. */
import { describe, expect, it } from 'vitest';
import { type Affected, EVERYTHING } from '../../../src/cluster/recovery/failover-replay.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { isPending } from '../../contracts/harness.ts';
import { jobNamed, LEFT_MS, NOTHING, onNode, recent, runningOn, start } from './failover-replay-rig.ts';

/** Longer than anybody who wants a slot is kept waiting. */
const LONG_MS = 60_000;

describe('a store that may have lost writes', () => {
  it('is told the slots first and the jobs after all of them', async () => {
    const { failoverReplay, told, counted } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    await failoverReplay.run(EVERYTHING);
    expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`, `n2 b:1 ${LEFT_MS}`, 'a', 'b']);
    expect(counted('scheduler_failover_replays_total leases')).toBe(2);
    expect(counted('scheduler_failover_replays_total jobs')).toBe(2);
  });

  it('is told again which slots were given back a moment ago, where it may have lost that', async () => {
    const { failoverReplay, told, state, counted } = start([runningOn('n1', 'a')]);
    state.releases = [recent('x:1', 'n1'), recent('y:1', 'n2')];
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'n1 x:1 free']);
    expect(counted('scheduler_failover_replays_total releases')).toBe(1);
  });

  it('is told again which attempts were given up a moment ago, unless their nodes took them up again', async () => {
    const { failoverReplay, told, state, counted } = start([runningOn('n1', 'a')]);
    state.abandoned = [recent('a:1', 'n1'), recent('x:1', 'n1'), recent('y:1', 'n2')];
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'n1 x:1 abandoned']);
    expect(counted('scheduler_failover_replays_total fences')).toBe(1);
  });

  it('is told that an attempt was given up while its slot was told: the mark found nothing to mark', async () => {
    const { failoverReplay, told, state } = start([runningOn('n1', 'a'), runningOn('n1', 'b')]);
    state.whileTelling = () => void state.givenUp.add('b:1');
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`, `n1 b:1 ${LEFT_MS}`, 'n1 b:1 abandoned']);
  });

  it('is not told that a slot was given back which its job holds again', async () => {
    const { failoverReplay, told, state } = start([runningOn('n1', 'a')]);
    state.releases = [recent('a:1', 'n1')];
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`]);
  });

  it('is told no job before the last slot was answered', async () => {
    const { clock, failoverReplay, store, told } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    store.plan({ method: 'reassert', at: [2], fault: { answerDelayMs: 100 } });
    const run = failoverReplay.run(EVERYTHING);
    await clock.advance(99);
    expect(told).not.toContain('a');
    await clock.advance(1);
    await run;
    expect(told).toContain('a');
  });

  it('is told only what lies where writes may be lost', async () => {
    const { failoverReplay, told } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    await failoverReplay.run({
      ...NOTHING,
      job: (jobId) => jobId === 'b',
      node: (nodeId) => nodeId === 'n1',
    });
    expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'b']);
  });

  it('receives the leases of all attempts that may have been handed over', async () => {
    const [fence, intent] = [
      { nodeId: 'n1', attempt: 1 },
      { nodeId: 'n2', attempt: 2 },
    ];
    const { failoverReplay, told } = start([
      jobNamed('sent', { state: 'DISPATCHED', fence }),
      jobNamed('running', { state: 'RUNNING', fence }),
      jobNamed('reserved', { state: 'RESERVED', intent }),
      jobNamed('retried', { state: 'RESERVED', fence, intent }),
      jobNamed('runs-again', { state: 'RUNNING', fence, intent }),
      jobNamed('waiting'),
    ]);
    await failoverReplay.run({ ...NOTHING, node: () => true });
    expect(told).toEqual([
      'others',
      `n1 sent:1 ${LEFT_MS}`,
      `n1 running:1 ${LEFT_MS}`,
      `n2 reserved:2 ${LEFT_MS}`,
      `n1 retried:1 ${LEFT_MS}`,
      `n2 retried:2 ${LEFT_MS}`,
      `n1 runs-again:1 ${LEFT_MS}`,
      `n2 runs-again:2 ${LEFT_MS}`,
    ]);
  });

  it('I2 no leak: is told what is left of a running attempt, not that it has just begun', async () => {
    const { failoverReplay, state, told } = start([runningOn('n1', 'a')]);
    state.leftMs.set('a:1', 12_000);
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', 'n1 a:1 12000']);
  });

  it('is not told of a job that ended while others were told: nobody would give its slot back, nor end it', async () => {
    const jobs = Array.from({ length: 65 }, (_, at) => runningOn('n1', `job-${at}`));
    const { failoverReplay, state, told } = start(jobs);
    state.whileTelling = () => state.ended.add('job-64');
    await failoverReplay.run(EVERYTHING);
    expect(told.filter((what) => what.includes('job-64'))).toEqual([]);
    expect(told).toHaveLength(1 + 64 + 64);
  });

  it('is told of a job, but not of its slot, if that was given back before the end of the job is written', async () => {
    const { failoverReplay, state, told } = start([runningOn('n1', 'a'), runningOn('n1', 'b')]);
    state.givenBack.add('a:1');
    await failoverReplay.run(EVERYTHING);
    expect(told).toEqual(['others', `n1 b:1 ${LEFT_MS}`, 'a', 'b']);
  });

  it('is told everything it takes, although it refuses some', async () => {
    const { failoverReplay, store, told, counted } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    store.plan(
      { method: 'reassert', at: [1], fault: 'throw' },
      { method: 'restore', at: [2], fault: 'throw' },
    );
    await failoverReplay.run(EVERYTHING);
    expect(told).toEqual(['others', `n2 b:1 ${LEFT_MS}`, 'a']);
    expect(counted('scheduler_failover_replays_total leases')).toBe(1);
    expect(counted('scheduler_failover_replays_total jobs')).toBe(1);
  });

  it('is told a bounded number of things at once', async () => {
    const { clock, failoverReplay, store } = start(
      Array.from({ length: 200 }, (_, at) => runningOn('n1', `${at}`)),
    );
    store.plan({ fault: { answerDelayMs: 1 } });
    const run = failoverReplay.run(EVERYTHING);
    await clock.advance(0);
    expect(store.calls()).toBe(64);
    await clock.advance(LONG_MS);
    await run;
    expect(store.calls()).toBe(400);
  });

  it('is told again by the next run although one could not even begin', async () => {
    const { failoverReplay, state, told } = start([runningOn('n1', 'a')]);
    const { jobs } = state;
    state.jobs = {
      [Symbol.iterator]() {
        throw new Error('the engine is not made yet');
      },
    } as unknown as JobRecord[];
    await failoverReplay.run(EVERYTHING);
    expect(failoverReplay.settled('n1')).toBeUndefined();
    state.jobs = jobs;
    await failoverReplay.run(EVERYTHING);
    expect(told).toContain('a');
  });
});

describe('whoever wants a slot', () => {
  it('is not kept waiting when nothing is to be told, nor on a node that lost nothing', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    expect(failoverReplay.settled('n1')).toBeUndefined();
    store.plan({ method: 'reassert', fault: { answerDelayMs: 100 } });
    const run = failoverReplay.run(onNode('n1'));
    expect(failoverReplay.settled('n2')).toBeUndefined();
    await clock.advance(100);
    await run;
    expect(failoverReplay.settled('n1')).toBeUndefined();
  });

  it('waits until the slots of the node are told', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    store.plan({ method: 'reassert', fault: { answerDelayMs: 100 } });
    void failoverReplay.run(EVERYTHING);
    const settled = failoverReplay.settled('n1') ?? Promise.resolve();
    await clock.advance(99);
    expect(await isPending(settled)).toBe(true);
    await clock.advance(1);
    expect(await isPending(settled)).toBe(false);
    expect(clock.pending()).toBe(0);
  });

  it('waits for every run that concerns the node, however they overlap', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    store.plan(
      { method: 'reassert', at: [1], fault: { answerDelayMs: 1_000 } },
      { method: 'reassert', at: [2], fault: { answerDelayMs: 100 } },
    );
    void failoverReplay.run(onNode('n1'));
    void failoverReplay.run(onNode('n2'));
    const [first, second] = ['n1', 'n2'].map((nodeId) => failoverReplay.settled(nodeId) ?? Promise.resolve());
    await clock.advance(100);
    expect([await isPending(first as Promise<void>), await isPending(second as Promise<void>)]).toEqual([
      true,
      false,
    ]);
    expect([failoverReplay.settled('n1') === undefined, failoverReplay.settled('n2') === undefined]).toEqual([
      false,
      true,
    ]);
    await clock.advance(900);
    expect(await isPending(first as Promise<void>)).toBe(false);
  });

  it('waits for the last of several runs on the same node', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    store.plan({ method: 'reassert', at: [2], fault: { answerDelayMs: 100 } });
    void failoverReplay.run(onNode('n1'));
    void failoverReplay.run(onNode('n1'));
    const settled = failoverReplay.settled('n1') ?? Promise.resolve();
    expect(await isPending(settled)).toBe(true);
    await clock.advance(100);
    expect(await isPending(settled)).toBe(false);
  });

  it('waits for no store that stays away: the reserve itself is refused there', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    store.plan({ method: 'reassert', fault: { answerDelayMs: LONG_MS } });
    void failoverReplay.run(EVERYTHING);
    const settled = failoverReplay.settled('n1') ?? Promise.resolve();
    await clock.advance(3_000);
    expect(await isPending(settled)).toBe(false);
  });
});

describe('a request that such a store does not know', () => {
  const onShard = (...jobs: readonly string[]): Affected => ({
    ...NOTHING,
    job: () => true,
    record: (jobId) => jobs.includes(jobId),
  });

  it('may have a job until the others had their time, and no longer', async () => {
    const { clock, failoverReplay } = start([]);
    expect(failoverReplay.othersTold('a')).toBeUndefined();
    await failoverReplay.run(onShard('a'));
    const told = failoverReplay.othersTold('a') as Promise<void>;
    await clock.advance(1_999);
    expect(await isPending(told)).toBe(true);
    await clock.advance(1);
    await told;
    expect(failoverReplay.othersTold('a')).toBeUndefined();
    expect(clock.pending()).toBe(0);
  });

  it('is found to be in doubt without a timer that nobody waits for', async () => {
    const { clock, failoverReplay } = start([]);
    await failoverReplay.run(onShard('a'));
    expect([failoverReplay.mayBeLost('a'), failoverReplay.mayBeLost('b'), clock.pending()]).toEqual([
      true,
      false,
      0,
    ]);
    await clock.advance(2_000);
    expect(failoverReplay.mayBeLost('a')).toBe(false);
  });

  it('is unknown at once where no record was lost', async () => {
    const { failoverReplay } = start([]);
    await failoverReplay.run(onShard('a'));
    expect(failoverReplay.othersTold('b')).toBeUndefined();
  });

  it('waits for the last of several losses', async () => {
    const { clock, failoverReplay } = start([]);
    await failoverReplay.run(onShard('a'));
    await clock.advance(1_500);
    await failoverReplay.run(onShard('a'));
    const told = failoverReplay.othersTold('a') as Promise<void>;
    await clock.advance(1_999);
    expect(await isPending(told)).toBe(true);
    await clock.advance(1);
    await told;
  });
});
