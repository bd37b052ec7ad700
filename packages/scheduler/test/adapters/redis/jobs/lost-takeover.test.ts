/** I4 fencing: a failover loses the takeover of a job. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perTest } from '../../../contracts/harness.ts';
import { changeTo, expectedOf } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, openInstance } from '../../../support/redis-jobs.ts';
import { startCluster, startRedis } from '../../../support/redis-servers.ts';
import { dispatch, fail, move, openLosing } from './lossy-job-store.ts';

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

  /** b takes over from a, which is dead; then the record is rolled back to a's state. */
  async function taken(moves: 'moved on' | 'untouched') {
    const rig = await start();
    const { a, b, admit, remember } = rig;
    const job = await move(a, await dispatch(a, await admit()), 'RUNNING');
    const setBack = await remember(job);
    const takenOver = await b.takeOver({ jobId: job.jobId, deadlineAt: job.deadlineAt }, { instanceId: 'a' });
    if (takenOver.kind !== 'taken') throw new Error(takenOver.kind);
    const later = moves === 'untouched' ? takenOver.job : await move(b, takenOver.job, 'RETRYING');
    await setBack();
    expect(await b.driverOf(job.jobId)).toEqual({ driver: 'a/1', isSettled: false });
    return { ...rig, job, later };
  }

  it.each(['moved on', 'untouched'] as const)(
    'is restored by the instance that took it over: %s',
    async (moves) => {
      const { b, later } = await taken(moves);
      expect(await b.restore(later)).toBe(moves === 'untouched' ? 'kept' : 'restored');
      expect(await b.driverOf(later.jobId)).toEqual({ driver: 'b/1', isSettled: false });
      expect(await b.get(later.jobId)).toMatchObject({ state: later.state });
      expect(b.drives(later.jobId)).toBe(true);
    },
  );

  it.each(['moved on', 'untouched'] as const)(
    'is moved by the instance that took it over: %s',
    async (moves) => {
      const { b, later } = await taken(moves);
      const failed = await fail(b, later);
      expect(await b.get(later.jobId)).toEqual(failed);
      expect(await b.driverOf(later.jobId)).toEqual({ driver: 'b/1', isSettled: true });
    },
  );

  it('is not restored if another instance took it over since', async () => {
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
