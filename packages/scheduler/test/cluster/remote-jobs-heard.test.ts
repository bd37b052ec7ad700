/** Answers over HTTP and cancels of jobs that are driven elsewhere: whoever says it is told what came of it. */
import { describe, expect, it } from 'vitest';
import { SchedulerError } from '../../src/domain/errors.ts';
import { RESULT } from '../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from './post-rig.ts';
import { ANSWER_MS, INLINE_MAX_BYTES, SOON_MS, startDesks } from './remote-jobs-rig.ts';

const ACCEPTED = { kind: 'accepted' };
const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };

describe('an answer that is waited for', () => {
  it('is heard here if the job is driven here, with its whole result', async () => {
    const { holder, driveBy, sent } = await startDesks();
    const jobId = await driveBy(holder);
    const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
    await holder.heard.finish({ jobId, nodeId: 'n', attempt: 1 }, { ...RESULT, ttsAudio });
    expect([holder.state.audio, sent]).toEqual([[ttsAudio], []]);
  });

  it('asks nobody about a job that is driven here, whatever an earlier assignment said', async () => {
    const { holder, driver, driveBy, sent } = await startDesks();
    const jobId = await driveBy(holder);
    holder.driverCache.note(jobId, driver.driver);
    await holder.heard.acknowledge({ jobId, nodeId: 'n', attempt: 1 });
    expect(holder.state.told).toEqual([`${jobId} acknowledged`]);
    expect([holder.store.calls(), sent]).toEqual([0, []]);
  });

  it('goes to the successor of the driver that its assignment named', async () => {
    const { holder, driver, third, takeOver, jobId, answer, outcomeOf } = await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    await driver.instance.die();
    takeOver(third);
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual(ACCEPTED);
    // Whoever has its socket has not heard it.
    expect(third.state.told).toEqual([`${jobId} acknowledged`]);
  });

  it('is asked of a driver that joined after the last look at who lives', async () => {
    const { holder, driver, jobId, answer, outcomeOf } = await startDesks();
    holder.state.joined.add('driver');
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual(ACCEPTED);
    expect(driver.state.told).toEqual([`${jobId} acknowledged`]);
    expect(await outcomeOf(holder.heard.cancel(jobId, 'gone'))).toEqual({ kind: 'cancelled' });
  });

  it('is asked of whoever drives the job, and its verdict comes back without the record', async () => {
    const { holder, driver, jobId, answer, outcomeOf, sent } = await startDesks();
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual(ACCEPTED);
    expect(sent.find(({ to }) => to === 'holder')?.text).not.toContain('timeline');
    driver.state.say = async () => ({ kind: 'ignored', reason: 'fenced' });
    expect(await outcomeOf(holder.heard.finish(answer, RESULT))).toEqual({
      kind: 'ignored',
      reason: 'fenced',
    });
    expect(driver.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
  });

  it('is not of an unknown job while the store may have lost it: whoever drives it tells it again', async () => {
    const { holder, driver, jobId, answer, clock, outcomeOf } = await startDesks();
    holder.state.lost.add(jobId);
    holder.state.othersTold = new Promise((resolve) => clock.after(100, resolve));
    const finishing = holder.heard.finish(answer, RESULT);
    await clock.advance(99);
    holder.state.lost.delete(jobId);
    expect([holder.state.told, driver.state.told]).toEqual([[], []]);
    await clock.advance(1);
    expect(await outcomeOf(finishing)).toEqual(ACCEPTED);
    expect([holder.state.told, driver.state.told]).toEqual([[], [`${jobId} finished`]]);
  });

  it('of a node on a socket is held while the store may have lost its job, and nobody waits beside that', async () => {
    const { holder, driver, jobId, answer, clock } = await startDesks();
    holder.state.lost.add(jobId);
    holder.state.othersTold = new Promise(() => {});
    await holder.handedOver.finish(answer, RESULT);
    await clock.advance(SOON_MS);
    expect([holder.held.size(), holder.state.told, holder.state.waits]).toEqual([1, [], 0]);
    holder.state.lost.delete(jobId);
    await clock.advance(SOON_MS);
    expect(driver.state.told).toEqual([`${jobId} finished`]);
  });

  it('is of an unknown job if nobody told it again', async () => {
    const { holder, jobId, answer, clock, outcomeOf } = await startDesks();
    holder.state.lost.add(jobId);
    holder.state.othersTold = new Promise((resolve) => clock.after(100, resolve));
    const finishing = holder.heard.finish(answer, RESULT);
    await clock.advance(99);
    holder.state.othersTold = undefined;
    await clock.advance(1);
    await outcomeOf(finishing);
    // Where the record is looked for once more, in vain.
    expect(holder.state.told).toEqual([`${jobId} finished`]);
  });

  it('loses speech that is too large for a message, and says so', async () => {
    const { holder, driver, answer, outcomeOf } = await startDesks();
    const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
    await outcomeOf(holder.heard.finish(answer, { ...RESULT, ttsAudio }));
    expect(driver.state.audio).toEqual(['dropped']);
  });

  it('fails as the driver fails', async () => {
    const { holder, driver, answer, outcomeOf } = await startDesks();
    driver.state.say = async () => {
      throw new SchedulerError('RATE_LIMITED', 'slow down');
    };
    const outcome = outcomeOf(holder.heard.fail(answer, { code: 'PROCESSING_ERROR', message: 'no' }));
    expect(await outcome).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('is refused while its driver is being replaced, and is not held: the node asks again', async () => {
    const { holder, driver, answer, outcomeOf, sent } = await startDesks();
    await driver.instance.die();
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toMatchObject(DOWN);
    expect([holder.held.size(), sent]).toEqual([0, []]);
  });

  it('is refused when its driver is silent for too long', async () => {
    const { holder, driver, answer, clock } = await startDesks();
    driver.state.say = () => new Promise(() => {});
    const outcome = holder.heard.acknowledge(answer).catch((fault: unknown) => fault);
    await clock.advance(ANSWER_MS);
    expect(await outcome).toMatchObject(DOWN);
  });

  it('is refused while the store cannot say who drives the job', async () => {
    const { holder, answer } = await startDesks();
    holder.store.plan({ fault: 'throw' });
    await expect(holder.heard.acknowledge(answer)).rejects.toMatchObject(DOWN);
  });
});

describe('a cancel', () => {
  it('is done here if the job is driven here, or by nobody who is left', async () => {
    const { holder, driveBy, jobs, jobId, sent } = await startDesks();
    const own = await driveBy(holder);
    await jobs.settle(jobId);
    for (const each of [own, jobId, 'job-forgotten']) await holder.heard.cancel(each, 'closed');
    expect(holder.state.told).toEqual(
      [own, jobId, 'job-forgotten'].map((id) => `${id} closed JOB_CANCELLED`),
    );
    expect(sent).toEqual([]);
  });

  it('is asked of whoever drives the job, with its code', async () => {
    const { holder, driver, jobId, outcomeOf } = await startDesks();
    driver.state.cancelled = { kind: 'settled' };
    expect(await outcomeOf(holder.heard.cancel(jobId, 'gap', 'RESULT_TIMEOUT'))).toEqual({ kind: 'settled' });
    expect(await outcomeOf(holder.heard.cancel(jobId, 'closed'))).toEqual({ kind: 'settled' });
    expect(driver.state.told).toEqual([`${jobId} gap RESULT_TIMEOUT`, `${jobId} closed JOB_CANCELLED`]);
  });

  it('is refused while the driver is being replaced', async () => {
    const { holder, driver, jobId } = await startDesks();
    await driver.instance.die();
    await expect(holder.heard.cancel(jobId, 'closed')).rejects.toMatchObject(DOWN);
    expect(holder.state.told).toEqual([]);
  });

  it('goes on to who drives the job, if that changed while it was on its way', async () => {
    const { holder, driver, third, takeOver, jobId, outcomeOf } = await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    takeOver(third);
    expect(await outcomeOf(holder.heard.cancel(jobId, 'closed'))).toEqual({ kind: 'cancelled' });
    expect([driver.state.told, third.state.told]).toEqual([[], [`${jobId} closed JOB_CANCELLED`]]);
  });
});

describe('a message that reaches somebody who no longer drives the job', () => {
  it('goes on to who does, and the verdict comes back all the way', async () => {
    const { holder, driver, third, takeOver, jobId, answer, outcomeOf } = await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    takeOver(third);
    third.state.say = async () => ({ kind: 'ignored', reason: 'lease_lost' });
    const verdict = { kind: 'ignored', reason: 'lease_lost' };
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual(verdict);
    expect([driver.state.told, third.state.told]).toEqual([[], [`${jobId} acknowledged`]]);
  });

  it('goes on although nobody waits for it', async () => {
    const { holder, driver, third, takeOver, jobId, answer, settle, isEmpty } = await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    takeOver(third);
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    expect([driver.state.told, third.state.told]).toEqual([[], [`${jobId} finished`]]);
    expect(await isEmpty('driver')).toBe(true);
  });

  it('waits in its inbox while nobody drives the job', async () => {
    const { driver, holder, third, takeOver, jobs, jobId, answer, clock, settle, isEmpty } =
      await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    driver.state.drives.delete(jobId);
    jobs.assign(jobId, 'gone/gone-1');
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    expect(await isEmpty('driver')).toBe(false);
    takeOver(third);
    await clock.advance(COMES_AGAIN_MS);
    expect(third.state.told).toEqual([`${jobId} finished`]);
    expect(await isEmpty('driver')).toBe(true);
  });

  it('comes again if it is not handled in time, and keeps no other waiting for ever', async () => {
    const { holder, driver, jobId, answer, clock, settle, isEmpty } = await startDesks();
    const { say } = driver.state;
    driver.state.say = () => new Promise(() => {});
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    driver.state.say = say;
    await clock.advance(2 * COMES_AGAIN_MS);
    expect(driver.state.told).toEqual([`${jobId} finished`, `${jobId} finished`]);
    expect(await isEmpty('driver')).toBe(true);
  });
});
