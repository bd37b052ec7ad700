/** What nodes say of a job whose driver changes at that very moment. */
import { describe, expect, it } from 'vitest';
import { RESULT } from '../contracts/job-draft.ts';
import { SOON_MS, startDesks } from './remote-jobs-rig.ts';

const ACCEPTED = { kind: 'accepted' };

describe('what a node says of a job that is taken over while its driver hears it', () => {
  it('goes on to the successor', async () => {
    const { holder, driver, third, takeOver, jobId, answer, settle } = await startDesks();
    driver.state.say = async () => {
      takeOver(third);
      return { kind: 'ignored', reason: 'fenced' };
    };
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    expect(third.state.told).toEqual([`${jobId} finished`]);
    expect(third.state.audio).toEqual([RESULT.ttsAudio]);
    expect(driver.held.size()).toBe(0);
  });

  it('is held for it where nobody drives the job yet, and is news of no job that is over', async () => {
    const { driver, third, driveBy, jobs, takeOver, jobId, answer, clock } = await startDesks();
    driver.state.say = async () => {
      driver.state.drives.clear();
      return { kind: 'ignored', reason: 'fenced' };
    };
    jobs.assign(jobId, 'third/dead');
    expect(await driver.handedOver.acknowledge(answer)).toEqual(ACCEPTED);
    expect(driver.held.size()).toBe(1);
    takeOver(third);
    await clock.advance(SOON_MS);
    expect([driver.held.size(), third.state.told]).toEqual([0, [`${jobId} acknowledged`]]);
    const settled = await driveBy(driver);
    driver.state.say = async () => {
      driver.state.drives.clear();
      return { kind: 'ignored', reason: 'settled' };
    };
    const verdict = await driver.handedOver.finish({ ...answer, jobId: settled }, RESULT);
    expect(verdict).toEqual({ kind: 'ignored', reason: 'settled' });
  });
});

describe('what a node says of a job that several instances drove, each of which notes another as its driver', () => {
  /** The last one noted for its own nodes whom they had the job from, and the job is over. */
  async function inACircle() {
    const desks = await startDesks();
    const { holder, driver, third, jobId, jobs } = desks;
    holder.driverCache.note(jobId, driver.driver);
    driver.driverCache.note(jobId, third.driver);
    third.driverCache.note(jobId, holder.driver);
    driver.state.drives.delete(jobId);
    await jobs.settle(jobId);
    for (const { state } of [holder, driver, third])
      state.say = async () => ({ kind: 'ignored', reason: 'settled' });
    return desks;
  }

  it('I2 no leak: goes by one note, and then by the record; no message goes round', async () => {
    const { holder, driver, third, jobId, answer, settle, sent, clock } = await inACircle();
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    await clock.advance(SOON_MS);
    expect([driver.state.told, third.state.told, holder.state.told]).toEqual([[`${jobId} finished`], [], []]);
    expect(sent.length).toBe(1);
  });

  it('nor is a request to cancel it passed on and on', async () => {
    const { holder, driver, third, jobId, outcomeOf, sent } = await inACircle();
    driver.state.cancelled = { kind: 'settled' };
    expect(await outcomeOf(holder.heard.cancel(jobId, 'gone'))).toEqual({ kind: 'settled' });
    expect([driver.state.told.length, third.state.told, holder.state.told]).toEqual([1, [], []]);
    // The message and its answer.
    expect(sent.length).toBe(2);
  });
});

describe('what a node says of a job whose own driver handed it over in the place of a dead one', () => {
  it('is heard there when the job is over, and no message goes round', async () => {
    const { driver, jobs, jobId, answer, settle, sent } = await startDesks();
    driver.driverCache.note(jobId, driver.driver);
    driver.state.drives.delete(jobId);
    await jobs.settle(jobId);
    driver.state.say = async () => ({ kind: 'ignored', reason: 'settled' });
    expect(await driver.heard.fail(answer, { code: 'TIMEOUT', message: 'too late' })).toEqual({
      kind: 'ignored',
      reason: 'settled',
    });
    await driver.handedOver.fail(answer, { code: 'TIMEOUT', message: 'too late' });
    await settle();
    expect(driver.state.told).toEqual([`${jobId} failed TIMEOUT`, `${jobId} failed TIMEOUT`]);
    expect(sent).toEqual([]);
  });
});
