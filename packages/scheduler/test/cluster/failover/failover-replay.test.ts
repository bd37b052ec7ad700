/** After a failover the driver writes again what the store may have lost: leases first, then jobs. No slot is reserved before. */
import { describe, expect, it } from 'vitest';
import { type Affected, EVERYTHING } from '../../../src/cluster/recovery/failover-replay.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { isPending } from '../../contracts/harness.ts';
import { jobNamed, LEFT_MS, NOTHING, onNode, recent, runningOn, start } from './failover-replay-rig.ts';

/** Longer than a reserve waits for the replay. */
const LONG_MS = 60_000;

describe('a store that may have lost writes', () => {
  it('receives all leases before the first job', async () => {
    const { failoverReplay, written, counted } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    await failoverReplay.run(EVERYTHING);
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`, `n2 b:1 ${LEFT_MS}`, 'a', 'b']);
    expect(counted('scheduler_failover_replays_total leases')).toBe(2);
    expect(counted('scheduler_failover_replays_total jobs')).toBe(2);
  });

  it('receives recent releases again, on affected nodes only', async () => {
    const { failoverReplay, written, state, counted } = start([runningOn('n1', 'a')]);
    state.releases = [recent('x:1', 'n1'), recent('y:1', 'n2')];
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'n1 x:1 free']);
    expect(counted('scheduler_failover_replays_total releases')).toBe(1);
  });

  it('receives recent abandon marks again, unless the attempt runs again', async () => {
    const { failoverReplay, written, state, counted } = start([runningOn('n1', 'a')]);
    state.abandoned = [recent('a:1', 'n1'), recent('x:1', 'n1'), recent('y:1', 'n2')];
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'n1 x:1 abandoned']);
    expect(counted('scheduler_failover_replays_total fences')).toBe(1);
  });

  it('receives the abandon mark of an attempt abandoned during the replay', async () => {
    const { failoverReplay, written, state } = start([runningOn('n1', 'a'), runningOn('n1', 'b')]);
    state.whileWriting = () => void state.abandonedNow.add('b:1');
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`, `n1 b:1 ${LEFT_MS}`, 'n1 b:1 abandoned']);
  });

  it('receives no release of a lease that its job holds again', async () => {
    const { failoverReplay, written, state } = start([runningOn('n1', 'a')]);
    state.releases = [recent('a:1', 'n1')];
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`]);
  });

  it('receives no job before the last lease is answered', async () => {
    const { clock, failoverReplay, store, written } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    store.plan({ method: 'reassert', at: [2], fault: { answerDelayMs: 100 } });
    const run = failoverReplay.run(EVERYTHING);
    await clock.advance(99);
    expect(written).not.toContain('a');
    await clock.advance(1);
    await run;
    expect(written).toContain('a');
  });

  it('receives only what it may have lost', async () => {
    const { failoverReplay, written } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    await failoverReplay.run({
      ...NOTHING,
      job: (jobId) => jobId === 'b',
      node: (nodeId) => nodeId === 'n1',
    });
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'b']);
  });

  it('receives the leases of all attempts that may have been handed over', async () => {
    const [fence, intent] = [
      { nodeId: 'n1', attempt: 1 },
      { nodeId: 'n2', attempt: 2 },
    ];
    const { failoverReplay, written } = start([
      jobNamed('sent', { state: 'DISPATCHED', fence }),
      jobNamed('running', { state: 'RUNNING', fence }),
      jobNamed('reserved', { state: 'RESERVED', intent }),
      jobNamed('retried', { state: 'RESERVED', fence, intent }),
      jobNamed('runs-again', { state: 'RUNNING', fence, intent }),
      jobNamed('waiting'),
    ]);
    await failoverReplay.run({ ...NOTHING, node: () => true });
    expect(written).toEqual([
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

  it('I2 no leak: receives the rest of a lease, not its whole length', async () => {
    const { failoverReplay, state, written } = start([runningOn('n1', 'a')]);
    state.leftMs.set('a:1', 12_000);
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', 'n1 a:1 12000']);
  });

  it('receives neither job nor lease if the job ends during the replay', async () => {
    const jobs = Array.from({ length: 65 }, (_, at) => runningOn('n1', `job-${at}`));
    const { failoverReplay, state, written } = start(jobs);
    state.whileWriting = () => state.ended.add('job-64');
    await failoverReplay.run(EVERYTHING);
    expect(written.filter((what) => what.includes('job-64'))).toEqual([]);
    expect(written).toHaveLength(1 + 64 + 64);
  });

  it('receives a job without its lease if that was released', async () => {
    const { failoverReplay, state, written } = start([runningOn('n1', 'a'), runningOn('n1', 'b')]);
    state.released.add('a:1');
    await failoverReplay.run(EVERYTHING);
    expect(written).toEqual(['others', `n1 b:1 ${LEFT_MS}`, 'a', 'b']);
  });

  it('receives everything it accepts although some writes fail', async () => {
    const { failoverReplay, store, written, counted } = start([runningOn('n1', 'a'), runningOn('n2', 'b')]);
    store.plan(
      { method: 'reassert', at: [1], fault: 'throw' },
      { method: 'restore', at: [2], fault: 'throw' },
    );
    await failoverReplay.run(EVERYTHING);
    expect(written).toEqual(['others', `n2 b:1 ${LEFT_MS}`, 'a']);
    expect(counted('scheduler_failover_replays_total leases')).toBe(1);
    expect(counted('scheduler_failover_replays_total jobs')).toBe(1);
  });

  it('I11 bounded: receives a bounded number of writes at once', async () => {
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

  it('receives everything in the next run if one failed to start', async () => {
    const { failoverReplay, state, written } = start([runningOn('n1', 'a')]);
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
    expect(written).toContain('a');
  });
});

describe('a reserve after a failover', () => {
  it('does not wait on a node that lost nothing', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    expect(failoverReplay.settled('n1')).toBeUndefined();
    store.plan({ method: 'reassert', fault: { answerDelayMs: 100 } });
    const run = failoverReplay.run(onNode('n1'));
    expect(failoverReplay.settled('n2')).toBeUndefined();
    await clock.advance(100);
    await run;
    expect(failoverReplay.settled('n1')).toBeUndefined();
  });

  it('waits until the leases of its node are written', async () => {
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

  it('waits for every overlapping run that affects its node', async () => {
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

  it('waits for the last of several runs on its node', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    store.plan({ method: 'reassert', at: [2], fault: { answerDelayMs: 100 } });
    void failoverReplay.run(onNode('n1'));
    void failoverReplay.run(onNode('n1'));
    const settled = failoverReplay.settled('n1') ?? Promise.resolve();
    expect(await isPending(settled)).toBe(true);
    await clock.advance(100);
    expect(await isPending(settled)).toBe(false);
  });

  it('does not wait for a store that stays away', async () => {
    const { clock, failoverReplay, store } = start([runningOn('n1', 'a')]);
    store.plan({ method: 'reassert', fault: { answerDelayMs: LONG_MS } });
    void failoverReplay.run(EVERYTHING);
    const settled = failoverReplay.settled('n1') ?? Promise.resolve();
    await clock.advance(3_000);
    expect(await isPending(settled)).toBe(false);
  });
});

describe('a request whose record the store may have lost', () => {
  const onShard = (...jobs: readonly string[]): Affected => ({
    ...NOTHING,
    job: () => true,
    record: (jobId) => jobs.includes(jobId),
  });

  it('may have a job until the other drivers had time to replay', async () => {
    const { clock, failoverReplay } = start([]);
    expect(failoverReplay.othersReplayed('a')).toBeUndefined();
    await failoverReplay.run(onShard('a'));
    const written = failoverReplay.othersReplayed('a') as Promise<void>;
    await clock.advance(1_999);
    expect(await isPending(written)).toBe(true);
    await clock.advance(1);
    await written;
    expect(failoverReplay.othersReplayed('a')).toBeUndefined();
    expect(clock.pending()).toBe(0);
  });

  it('is known to be uncertain without a timer', async () => {
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

  it('is new at once if its shard lost nothing', async () => {
    const { failoverReplay } = start([]);
    await failoverReplay.run(onShard('a'));
    expect(failoverReplay.othersReplayed('b')).toBeUndefined();
  });

  it('waits for the last of several data losses', async () => {
    const { clock, failoverReplay } = start([]);
    await failoverReplay.run(onShard('a'));
    await clock.advance(1_500);
    await failoverReplay.run(onShard('a'));
    const written = failoverReplay.othersReplayed('a') as Promise<void>;
    await clock.advance(1_999);
    expect(await isPending(written)).toBe(true);
    await clock.advance(1);
    await written;
  });
});
