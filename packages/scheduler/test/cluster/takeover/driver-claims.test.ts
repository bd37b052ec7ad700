/** Who drives the job of a repeat, who may take it over, and what came of its first request. */
import { describe, expect, it } from 'vitest';
import { isPending } from '../../contracts/harness.ts';
import { AT, REFUSED, startClaims, VERDICT_MS } from './driver-claims-rig.ts';

const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };

describe('the job of a repeat', () => {
  it('is theirs while its driver lives', async () => {
    const { me, other, job, jobs } = await startClaims();
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(other.driver);
  });

  it('is theirs while its driver is only silent: nobody has declared its death', async () => {
    const { me, other, job, jobs } = await startClaims();
    await other.instance.die();
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(other.driver);
    expect(me.store.calls('takeOver')).toBe(0);
  });

  it('is ours once its driver is declared dead, with the record to go on from', async () => {
    const { me, other, job, jobs } = await startClaims();
    await other.instance.die();
    me.state.dead.add('other');
    expect(await me.claim(job)).toEqual({ kind: 'ours', job });
    expect(jobs.driver(job.jobId)).toBe(me.driver);
    expect([jobs.drivenIn('me'), jobs.drivenIn('other')]).toEqual([[job.jobId], []]);
  });

  it('is theirs although its driver was declared dead, if that lives under the same life after all', async () => {
    const { me, job } = await startClaims();
    me.state.dead.add('other');
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
  });

  it('is ours if only a later life of its driver lives, which did not take it over', async () => {
    const { me, other, join, job, jobs } = await startClaims();
    await other.instance.die();
    await join('other', 'other-2');
    expect(await me.claim(job)).toEqual({ kind: 'ours', job });
    expect(jobs.driver(job.jobId)).toBe(me.driver);
  });

  it('is theirs if the later life of its driver takes it over in the same moment', async () => {
    const { me, other, join, job, jobs, clock } = await startClaims();
    await other.instance.die();
    const reborn = await join('other', 'other-2');
    me.store.plan({ method: 'takeOver', fault: { delayMs: 10 } });
    const claimed = me.claim(job);
    await clock.advance(5);
    jobs.assign(job.jobId, reborn.driver);
    await clock.advance(5);
    expect(await claimed).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(reborn.driver);
  });

  it.each([
    { seen: 'not at all', looksFirst: false },
    { seen: 'as it was before', looksFirst: true },
  ])('is theirs if its driver was started again a moment ago, and is seen $seen', async ({ looksFirst }) => {
    const { me, other, join, drivenBy, jobs } = await startClaims();
    const before = await me.instance.living();
    await other.instance.die();
    me.state.dead.add('other');
    const seen = looksFirst ? before : await me.instance.living();
    me.state.look = async () => seen;
    const reborn = await join('other', 'other-2');
    const job = await drivenBy(reborn);
    expect(await me.claim(job)).toEqual({ kind: 'theirs' });
    expect(jobs.driver(job.jobId)).toBe(reborn.driver);
  });

  it('is ours for one of several that try at once', async () => {
    const { me, other, join, job } = await startClaims();
    const third = await join('third');
    await other.instance.die();
    for (const each of [me, third]) each.state.dead.add('other');
    const claimed = await Promise.all([me.claim(job), third.claim(job)]);
    expect(claimed.map(({ kind }) => kind).sort()).toEqual(['ours', 'theirs']);
  });

  it('is over when it has its outcome or is forgotten, also if that happens while it is taken over', async () => {
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
    'is nobody’s word while the store is away (%s)',
    async (method) => {
      const { me, other, job } = await startClaims();
      await other.instance.die();
      me.state.dead.add('other');
      me.store.plan({ method, fault: 'throw' });
      await expect(me.claim(job)).rejects.toMatchObject(DOWN);
    },
  );
});

describe('what came of the first request for a job', () => {
  it('is asked of its driver', async () => {
    const { me, other, job, settle } = await startClaims();
    for (const said of [{ kind: 'placed' } as const, REFUSED, undefined]) {
      other.state.verdict = async () => said;
      const asked = me.placingResult(job);
      await settle();
      expect(await asked).toEqual(said);
    }
  });

  it('is not known of a job that is over, and nobody is asked', async () => {
    const { me, job, jobs, sent } = await startClaims();
    await jobs.settle(job.jobId);
    expect(await me.placingResult(job)).toBeUndefined();
    expect(await me.placingResult({ ...job, jobId: 'job-forgotten' })).toBeUndefined();
    expect(sent).toEqual([]);
  });

  it('is waited for no longer than a job may wait, and holds up nothing else that is said of it', async () => {
    const { me, other, job, clock, settle } = await startClaims();
    other.state.verdict = () => new Promise(() => {});
    const asked = me.placingResult(job);
    const outcome = asked.catch((fault: unknown) => fault);
    me.state.audio.set(job.jobId, AT);
    me.offerAudio(job);
    await settle();
    expect(other.state.returned).toHaveLength(1);
    await clock.advance(VERDICT_MS - 100);
    expect(await isPending(asked)).toBe(true);
    await clock.advance(100);
    expect(await outcome).toMatchObject(DOWN);
  });
});

describe('a record that names a living instance, which knows nothing of it', () => {
  it('is driven again by that instance when somebody asks what came of it', async () => {
    const { me, other, job, settle } = await startClaims();
    other.state.drives.delete(job.jobId);
    const asked = me.placingResult(job);
    await settle();
    expect(await asked).toEqual({ kind: 'placed' });
    expect(other.state.drives.has(job.jobId)).toBe(true);
  });

  it('is ours if it names this one', async () => {
    const { me, drivenBy } = await startClaims();
    const own = await drivenBy(me);
    expect(await me.claim(own)).toEqual({ kind: 'theirs' });
    me.state.drives.delete(own.jobId);
    expect(await me.claim(own)).toMatchObject({ kind: 'ours', job: { jobId: own.jobId } });
  });

  it('is left alone if it has its outcome by now', async () => {
    const { me, other, job, jobs, settle } = await startClaims();
    other.state.drives.delete(job.jobId);
    await jobs.settle(job.jobId);
    const asked = me.placingResult(job);
    await settle();
    expect(await asked).toBeUndefined();
    expect(other.state.drives.has(job.jobId)).toBe(false);
  });

  it('is left alone if another was given it by the time that this one is asked', async () => {
    const { me, other, job, jobs, settle } = await startClaims();
    other.state.drives.delete(job.jobId);
    const asked = me.placingResult(job);
    other.state.verdict = async () => {
      jobs.assign(job.jobId, 'third/third-1');
      return undefined;
    };
    await settle();
    expect(await asked).toBeUndefined();
    expect(other.state.drives.has(job.jobId)).toBe(false);
  });
});
