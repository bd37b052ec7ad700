/** Audio that arrives with a repeated request is offered until the driver of the job has received its location. */
import { describe, expect, it } from 'vitest';
import { COMES_AGAIN_MS } from '../messaging/message-bus-rig.ts';
import { AT, JOB_DEADLINE_MS, SOON_MS, startClaims } from './driver-claims-rig.ts';

describe('the audio of a repeated request', () => {
  it('is offered to the driver of the job once', async () => {
    const { me, other, job, clock, sent } = await startClaims();
    me.state.audio.set(job.jobId, AT);
    me.offerAudio(job);
    me.offerAudio(job);
    await clock.advance(10 * SOON_MS);
    expect(other.state.returned).toEqual([`${job.jobId} ${AT.url}`]);
    expect(sent).toHaveLength(1);
    me.offerAudio(job);
    await clock.advance(SOON_MS);
    expect(other.state.returned).toHaveLength(2);
  });

  it('is offered again until the job has a driver', async () => {
    const { me, other, join, job, jobs, clock, sent } = await startClaims();
    const third = await join('third');
    me.state.audio.set(job.jobId, AT);
    await other.instance.die();
    me.offerAudio(job);
    await clock.advance(10 * SOON_MS);
    expect(sent).toEqual([]);
    jobs.assign(job.jobId, third.driver);
    third.state.drives.add(job.jobId);
    await clock.advance(SOON_MS);
    expect(third.state.returned).toHaveLength(1);
  });

  it.each(['driverOf', 'send'] as const)(
    'is offered again after a fault of the store (%s)',
    async (method) => {
      const { me, other, job, clock } = await startClaims();
      me.state.audio.set(job.jobId, AT);
      if (method === 'driverOf') me.store.plan({ method, fault: 'throw' });
      else me.instance.connection.plan({ method, fault: 'throw' });
      me.offerAudio(job);
      await clock.advance(10 * SOON_MS);
      expect(other.state.returned).toEqual([]);
      me.store.heal();
      me.instance.connection.heal();
      await clock.advance(SOON_MS);
      expect(other.state.returned).toHaveLength(1);
    },
  );

  it.each([
    ['the deadline of the job', 5_000, 5_000],
    ['a whole job deadline, for any clock difference', 3_600_000, JOB_DEADLINE_MS],
  ])('is offered until %s, not after', async (_, deadlineMs, endMs) => {
    const { me, other, join, drivenBy, jobs, clock } = await startClaims();
    const job = await drivenBy(other, { deadlineAt: clock.now() + deadlineMs });
    const third = await join('third');
    me.state.audio.set(job.jobId, AT);
    await other.instance.die();
    me.offerAudio(job);
    await clock.advance(endMs - SOON_MS);
    const looks = me.store.calls('driverOf');
    expect(looks).toBeGreaterThan(endMs / SOON_MS);
    await clock.advance(SOON_MS);
    jobs.assign(job.jobId, third.driver);
    await clock.advance(10 * SOON_MS);
    expect(third.state.returned).toEqual([]);
    expect(me.store.calls('driverOf')).toBeLessThanOrEqual(looks + 2);
  });

  it.each(['settled', 'forgotten', 'taken over here', 'without audio'])(
    'is not offered for a job that is %s',
    async (what) => {
      const { me, other, job, jobs, clock, sent } = await startClaims();
      if (what !== 'without audio') me.state.audio.set(job.jobId, AT);
      if (what === 'settled') await jobs.settle(job.jobId);
      if (what === 'taken over here') jobs.assign(job.jobId, me.driver);
      me.offerAudio(what === 'forgotten' ? { ...job, jobId: 'job-forgotten' } : job);
      await clock.advance(10 * SOON_MS);
      expect([sent, other.state.returned, me.store.calls('driverOf')]).toEqual([[], [], 1]);
    },
  );

  it('I11 bounded: is offered for a bounded number of jobs', async () => {
    const { me, job, clock } = await startClaims();
    me.store.plan({ method: 'driverOf', fault: { delayMs: SOON_MS } });
    for (let at = 0; at < 10_001; at += 1) me.offerAudio({ ...job, jobId: `job-${at}` });
    expect(me.store.calls('driverOf')).toBe(10_000);
    expect(clock.pending()).toBeGreaterThan(0);
  });
});

describe('an audio message at an instance that does not drive the job', () => {
  it('goes on to the driver', async () => {
    const { me, other, join, job, jobs, clock } = await startClaims();
    const third = await join('third');
    jobs.assign(job.jobId, other.driver);
    me.state.audio.set(job.jobId, AT);
    other.state.drives.delete(job.jobId);
    me.store.plan({ method: 'driverOf', at: [1], fault: { answerDelayMs: 10 } });
    me.offerAudio(job);
    await clock.advance(0);
    jobs.assign(job.jobId, third.driver);
    third.state.drives.add(job.jobId);
    await clock.advance(100);
    expect([other.state.returned, third.state.returned.length]).toEqual([[], 1]);
  });

  it('waits in the inbox while the job has no driver', async () => {
    const { me, other, job, clock, isEmpty, sent } = await startClaims();
    me.state.audio.set(job.jobId, AT);
    other.state.drives.delete(job.jobId);
    me.offerAudio(job);
    await clock.advance(100);
    expect([other.state.returned, await isEmpty('other'), sent.length]).toEqual([[], false, 1]);
    other.state.drives.add(job.jobId);
    await clock.advance(COMES_AGAIN_MS);
    expect([other.state.returned.length, await isEmpty('other')]).toEqual([1, true]);
  });

  it('is not sent to a new incarnation of a dead driver', async () => {
    const { me, other, job, jobs, clock, sent, isEmpty } = await startClaims();
    me.state.audio.set(job.jobId, AT);
    other.state.drives.delete(job.jobId);
    me.store.plan({ method: 'driverOf', at: [1], fault: { answerDelayMs: 10 } });
    // If the instance sent the message to itself, the loop would end after a countable number of messages.
    other.instance.connection.plan({ method: 'send', fault: { delayMs: 10 } });
    me.offerAudio(job);
    await clock.advance(0);
    jobs.assign(job.jobId, 'other/the-one-before');
    other.store.plan({ method: 'takeOver', fault: 'throw' });
    await clock.advance(1_000);
    expect([sent.length, await isEmpty('other')]).toEqual([1, false]);
    me.offerAudio(job);
    await clock.advance(1_000);
    expect(sent).toHaveLength(1);
    jobs.assign(job.jobId, other.driver);
    other.state.drives.add(job.jobId);
    await clock.advance(COMES_AGAIN_MS);
    expect([other.state.returned.length, await isEmpty('other')]).toEqual([2, true]);
  });

  it('takes an unindexed job over from a driver that was declared dead', async () => {
    const { me, other, join, job, jobs, clock, isEmpty } = await startClaims();
    const third = await join('third');
    me.state.audio.set(job.jobId, AT);
    other.state.drives.delete(job.jobId);
    me.store.plan({ method: 'driverOf', at: [1], fault: { answerDelayMs: 10 } });
    me.offerAudio(job);
    await clock.advance(0);
    jobs.assign(job.jobId, third.driver);
    await third.instance.die();
    await clock.advance(1_000);
    // The driver is only silent, not declared dead.
    expect([other.state.returned, jobs.driver(job.jobId)]).toEqual([[], third.driver]);
    other.state.dead.add('third');
    await clock.advance(COMES_AGAIN_MS);
    expect([jobs.driver(job.jobId), other.state.drives.has(job.jobId)]).toEqual([other.driver, true]);
    expect([other.state.returned, await isEmpty('other')]).toEqual([[`${job.jobId} ${AT.url}`], true]);
  });

  it('is acknowledged if the job is settled', async () => {
    const { me, other, job, jobs, clock, isEmpty } = await startClaims();
    me.state.audio.set(job.jobId, AT);
    other.state.drives.delete(job.jobId);
    me.store.plan({ method: 'driverOf', at: [1], fault: { answerDelayMs: 10 } });
    me.offerAudio(job);
    await clock.advance(0);
    await jobs.settle(job.jobId);
    await clock.advance(100);
    expect([other.state.returned, await isEmpty('other')]).toEqual([[], true]);
  });
});
