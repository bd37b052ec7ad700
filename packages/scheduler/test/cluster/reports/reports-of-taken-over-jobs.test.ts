/** Reports about a job that is taken over at the same time. */
import { describe, expect, it } from 'vitest';
import { RESULT } from '../../contracts/job-draft.ts';
import { SOON_MS, startInstances } from './reports-rig.ts';

const ACCEPTED = { kind: 'accepted' };

describe('a report of a job that is taken over while it is applied', () => {
  it('goes on to the new driver', async () => {
    const { holder, driver, third, takeOver, jobId, answer, settle } = await startInstances();
    driver.state.answer = async () => {
      takeOver(third);
      return { kind: 'ignored', reason: 'fenced' };
    };
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    expect(third.state.applied).toEqual([`${jobId} finished`]);
    expect(third.state.audio).toEqual([RESULT.ttsAudio]);
    expect(driver.pending.size()).toBe(0);
  });

  it('is kept until the job has a driver, unless the job is settled', async () => {
    const { driver, third, driveBy, jobs, takeOver, jobId, answer, clock } = await startInstances();
    driver.state.answer = async () => {
      driver.state.drives.clear();
      return { kind: 'ignored', reason: 'fenced' };
    };
    jobs.assign(jobId, 'third/dead');
    expect(await driver.bySocket.acknowledge(answer)).toEqual(ACCEPTED);
    expect(driver.pending.size()).toBe(1);
    takeOver(third);
    await clock.advance(SOON_MS);
    expect([driver.pending.size(), third.state.applied]).toEqual([0, [`${jobId} acknowledged`]]);
    const settled = await driveBy(driver);
    driver.state.answer = async () => {
      driver.state.drives.clear();
      return { kind: 'ignored', reason: 'settled' };
    };
    const verdict = await driver.bySocket.finish({ ...answer, jobId: settled }, RESULT);
    expect(verdict).toEqual({ kind: 'ignored', reason: 'settled' });
  });
});

describe('a report of a job for which the driver caches form a circle', () => {
  /** The cache of the last instance names the first one, and the job is settled. */
  async function cachesInACircle() {
    const instances = await startInstances();
    const { holder, driver, third, jobId, jobs } = instances;
    holder.driverCache.note(jobId, driver.driver);
    driver.driverCache.note(jobId, third.driver);
    third.driverCache.note(jobId, holder.driver);
    driver.state.drives.delete(jobId);
    await jobs.settle(jobId);
    for (const { state } of [holder, driver, third])
      state.answer = async () => ({ kind: 'ignored', reason: 'settled' });
    return instances;
  }

  it('I2 no leak: is sent once by the cache, then by the record', async () => {
    const { holder, driver, third, jobId, answer, settle, sent, clock } = await cachesInACircle();
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    await clock.advance(SOON_MS);
    expect([driver.state.applied, third.state.applied, holder.state.applied]).toEqual([
      [`${jobId} finished`],
      [],
      [],
    ]);
    expect(sent.length).toBe(1);
  });

  it('I2 no leak: a cancel is sent once by the cache, then by the record', async () => {
    const { holder, driver, third, jobId, outcomeOf, sent } = await cachesInACircle();
    driver.state.cancelled = { kind: 'settled' };
    expect(await outcomeOf(holder.byRequest.cancel(jobId, 'gone'))).toEqual({ kind: 'settled' });
    expect([driver.state.applied.length, third.state.applied, holder.state.applied]).toEqual([1, [], []]);
    // The message and its answer.
    expect(sent.length).toBe(2);
  });
});

describe('a report of a settled job whose cache entry names this instance', () => {
  it('is applied here without a message', async () => {
    const { driver, jobs, jobId, answer, settle, sent } = await startInstances();
    driver.driverCache.note(jobId, driver.driver);
    driver.state.drives.delete(jobId);
    await jobs.settle(jobId);
    driver.state.answer = async () => ({ kind: 'ignored', reason: 'settled' });
    expect(await driver.byRequest.fail(answer, { code: 'TIMEOUT', message: 'too late' })).toEqual({
      kind: 'ignored',
      reason: 'settled',
    });
    await driver.bySocket.fail(answer, { code: 'TIMEOUT', message: 'too late' });
    await settle();
    expect(driver.state.applied).toEqual([`${jobId} failed TIMEOUT`, `${jobId} failed TIMEOUT`]);
    expect(sent).toEqual([]);
  });
});
