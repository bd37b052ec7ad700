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

describe('what a node says of a job whose own driver handed it over in the place of a dead one', () => {
  it('is heard there when the job is over, and no letter goes round', async () => {
    const { driver, jobs, jobId, answer, settle, sent } = await startDesks();
    driver.book.note(jobId, driver.driver);
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
