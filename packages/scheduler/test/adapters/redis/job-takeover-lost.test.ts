/** I4 fencing: a job that was taken over, together with the fact that it was, is lost by a failover. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perTest } from '../../contracts/harness.ts';
import { changeTo, expectedOf } from '../../contracts/job-draft.ts';
import { type Connected, connectTo, openInstance } from '../../support/redis-jobs.ts';
import { startCluster, startRedis } from '../../support/redis-servers.ts';
import { dispatch, fail, move, openLosing } from './losing-store.ts';

const START_MS = 60_000;

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('a takeover that was lost on %s', (_, startServers) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  const start = perTest(() => openLosing(redis));

  /** By b, from a, which is gone; then the record is as a left it. */
  async function taken(moves: 'moved on' | 'untouched') {
    const rig = await start();
    const { a, b, admit, remember } = rig;
    const job = await move(a, await dispatch(a, await admit()), 'RUNNING');
    const setBack = await remember(job);
    const adopted = await b.takeOver({ jobId: job.jobId, deadlineAt: job.deadlineAt }, { instanceId: 'a' });
    if (adopted.kind !== 'taken') throw new Error(adopted.kind);
    const later = moves === 'untouched' ? adopted.job : await move(b, adopted.job, 'RETRYING');
    await setBack();
    expect(await b.driverOf(job.jobId)).toEqual({ driver: 'a/1', isSettled: false });
    return { ...rig, job, later };
  }

  it.each(['moved on', 'untouched'] as const)('is told again by whoever took it: %s', async (moves) => {
    const { b, later } = await taken(moves);
    expect(await b.restore(later)).toBe(moves === 'untouched' ? 'kept' : 'restored');
    expect(await b.driverOf(later.jobId)).toEqual({ driver: 'b/1', isSettled: false });
    expect(await b.get(later.jobId)).toMatchObject({ state: later.state });
    expect(b.drives(later.jobId)).toBe(true);
  });

  it.each(['moved on', 'untouched'] as const)('is moved on by whoever took it: %s', async (moves) => {
    const { b, later } = await taken(moves);
    const failed = await fail(b, later);
    expect(await b.get(later.jobId)).toEqual(failed);
    expect(await b.driverOf(later.jobId)).toEqual({ driver: 'b/1', isSettled: true });
  });

  it('is nobody else’s to write, and stays with whoever took it since', async () => {
    const { a, b, keys, later } = await taken('moved on');
    const c = openInstance(redis.other, keys, 'c', {});
    const { jobId, deadlineAt } = later;
    expect((await c.store.takeOver({ jobId, deadlineAt }, { instanceId: 'a' })).kind).toBe('taken');
    expect(await b.restore(later)).toBe('driven_elsewhere');
    expect(await b.move(jobId, expectedOf(later), changeTo('FAILED'))).toMatchObject({
      kind: 'driven_elsewhere',
    });
    expect(await a.restore(later)).toBe('driven_elsewhere');
    await c.close();
  });
});
