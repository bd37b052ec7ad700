/** The driver of a repeated request's job: who it is, when the job may be taken over, and the result of the first request. */
import { describe, expect, it } from 'vitest';
import { isPending } from '../../contracts/harness.ts';
import { AT, PLACING_RESULT_MS, REFUSED, startClaims } from './driver-claims-rig.ts';

const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };

describe('the job of a repeated request', () => {
  it('belongs to its driver while the driver lives', async () => {
    const { me, other, job, jobs } = await startClaims();
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(other.driver);
  });

  it('belongs to its driver until the driver is declared dead', async () => {
    const { me, other, job, jobs } = await startClaims();
    await other.instance.die();
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(other.driver);
    expect(me.store.calls('takeOver')).toBe(0);
  });

  it('is taken over, with its record, once its driver is declared dead', async () => {
    const { me, other, job, jobs } = await startClaims();
    await other.instance.die();
    me.state.dead.add('other');
    expect(await me.claim(job)).toEqual({ kind: 'ours', job });
    expect(jobs.driver(job.jobId)).toBe(me.driver);
    expect([jobs.drivenIn('me'), jobs.drivenIn('other')]).toEqual([[job.jobId], []]);
  });

  it('stays with a driver that lives although it was declared dead', async () => {
    const { me, job } = await startClaims();
    me.state.dead.add('other');
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
  });

  it('is taken over from a previous incarnation of a living driver', async () => {
    const { me, other, join, job, jobs } = await startClaims();
    await other.instance.die();
    await join('other', 'other-2');
    expect(await me.claim(job)).toEqual({ kind: 'ours', job });
    expect(jobs.driver(job.jobId)).toBe(me.driver);
  });

  it('goes to the new incarnation if that takes it over first', async () => {
    const { me, other, join, job, jobs, clock } = await startClaims();
    await other.instance.die();
    const restarted = await join('other', 'other-2');
    me.store.plan({ method: 'takeOver', fault: { delayMs: 10 } });
    const claimed = me.claim(job);
    await clock.advance(5);
    jobs.assign(job.jobId, restarted.driver);
    await clock.advance(5);
    expect(await claimed).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(restarted.driver);
  });

  it.each([
    { seen: 'as dead', looksFirst: false },
    { seen: 'as before', looksFirst: true },
  ])('stays with a driver that restarted and is seen $seen', async ({ looksFirst }) => {
    const { me, other, join, drivenBy, jobs } = await startClaims();
    const before = await me.instance.living();
    await other.instance.die();
    me.state.dead.add('other');
    const seen = looksFirst ? before : await me.instance.living();
    me.state.look = async () => seen;
    const restarted = await join('other', 'other-2');
    const job = await drivenBy(restarted);
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(restarted.driver);
  });

  it('is taken over by one of several concurrent claimants', async () => {
    const { me, other, join, job } = await startClaims();
    const third = await join('third');
    await other.instance.die();
    for (const each of [me, third]) each.state.dead.add('other');
    const claimed = await Promise.all([me.claim(job), third.claim(job)]);
    expect(claimed.map(({ kind }) => kind).sort()).toEqual(['ours', 'theirs']);
  });

  it('is over when it is settled or forgotten, even during the takeover', async () => {
    const { me, other, drivenBy, job, jobs, clock } = await startClaims();
    await jobs.settle(job.jobId);
    expect(await me.claim(job)).toEqual({ kind: 'over' });
    expect(await me.claim({ ...job, jobId: 'job-forgotten' })).toEqual({ kind: 'over' });
    const late = await drivenBy(other);
    await other.instance.die();
    me.state.dead.add('other');
    me.store.plan({ method: 'takeOver', fault: { delayMs: 10 } });
    const claimed = me.claim(late);
    await clock.advance(5);
    await jobs.settle(late.jobId);
    await clock.advance(5);
    expect(await claimed).toEqual({ kind: 'over' });
  });

  it.each(['driverOf', 'takeOver'] as const)(
    'has no owner while the store fails (%s): the claim rejects',
    async (method) => {
      const { me, other, job } = await startClaims();
      await other.instance.die();
      me.state.dead.add('other');
      me.store.plan({ method, fault: 'throw' });
      await expect(me.claim(job)).rejects.toMatchObject(DOWN);
    },
  );
});

describe('the result of the first request for a job', () => {
  it('comes from the driver of the job', async () => {
    const { me, other, job, settle } = await startClaims();
    for (const said of [{ kind: 'placed' } as const, REFUSED, undefined]) {
      other.state.result = async () => said;
      const requested = me.placingResult(job);
      await settle();
      expect(await requested).toEqual(said);
    }
  });

  it('is unknown for a settled job, without a message', async () => {
    const { me, job, jobs, sent } = await startClaims();
    await jobs.settle(job.jobId);
    expect(await me.placingResult(job)).toBeUndefined();
    expect(await me.placingResult({ ...job, jobId: 'job-forgotten' })).toBeUndefined();
    expect(sent).toEqual([]);
  });

  it('is awaited up to a limit without blocking other messages', async () => {
    const { me, other, job, clock, settle } = await startClaims();
    other.state.result = () => new Promise(() => {});
    const requested = me.placingResult(job);
    const outcome = requested.catch((fault: unknown) => fault);
    me.state.audio.set(job.jobId, AT);
    me.offerAudio(job);
    await settle();
    expect(other.state.returned).toHaveLength(1);
    await clock.advance(PLACING_RESULT_MS - 100);
    expect(await isPending(requested)).toBe(true);
    await clock.advance(100);
    expect(await outcome).toMatchObject(DOWN);
  });
});

describe('a record whose driver lives and does not know the job', () => {
  it('is driven again by that instance when its result is requested', async () => {
    const { me, other, job, settle } = await startClaims();
    other.state.drives.delete(job.jobId);
    const requested = me.placingResult(job);
    await settle();
    expect(await requested).toEqual({ kind: 'placed' });
    expect(other.state.drives.has(job.jobId)).toBe(true);
  });

  it('is claimed by this instance if it is the named driver', async () => {
    const { me, drivenBy } = await startClaims();
    const own = await drivenBy(me);
    expect(await me.claim(own)).toEqual({ kind: 'theirs' });
    me.state.drives.delete(own.jobId);
    expect(await me.claim(own)).toMatchObject({ kind: 'ours', job: { jobId: own.jobId } });
  });

  it('is left alone if the job is settled', async () => {
    const { me, other, job, jobs, settle } = await startClaims();
    other.state.drives.delete(job.jobId);
    await jobs.settle(job.jobId);
    const requested = me.placingResult(job);
    await settle();
    expect(await requested).toBeUndefined();
    expect(other.state.drives.has(job.jobId)).toBe(false);
  });

  it('is left alone if another instance became the driver meanwhile', async () => {
    const { me, other, job, jobs, settle } = await startClaims();
    other.state.drives.delete(job.jobId);
    const requested = me.placingResult(job);
    other.state.result = async () => {
      jobs.assign(job.jobId, 'third/third-1');
      return undefined;
    };
    await settle();
    expect(await requested).toBeUndefined();
    expect(other.state.drives.has(job.jobId)).toBe(false);
  });
});
