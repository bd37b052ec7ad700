/** Reports over HTTP and cancels of jobs that another instance drives: the caller waits for the driver's answer. */
import { describe, expect, it } from 'vitest';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { RESULT } from '../../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from '../messaging/message-bus-rig.ts';
import { ANSWER_MS, INLINE_MAX_BYTES, SOON_MS, startInstances } from './reports-rig.ts';

const ACCEPTED = { kind: 'accepted' };
const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };

describe('a report over HTTP', () => {
  it('is applied here with its whole result if this instance drives the job', async () => {
    const { holder, driveBy, sent } = await startInstances();
    const jobId = await driveBy(holder);
    const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
    await holder.byRequest.finish({ jobId, nodeId: 'n', attempt: 1 }, { ...RESULT, ttsAudio });
    expect([holder.state.audio, sent]).toEqual([[ttsAudio], []]);
  });

  it('ignores the driver cache if this instance drives the job', async () => {
    const { holder, driver, driveBy, sent } = await startInstances();
    const jobId = await driveBy(holder);
    holder.driverCache.note(jobId, driver.driver);
    await holder.byRequest.acknowledge({ jobId, nodeId: 'n', attempt: 1 });
    expect(holder.state.applied).toEqual([`${jobId} acknowledged`]);
    expect([holder.store.calls(), sent]).toEqual([0, []]);
  });

  it('goes to the new driver after the cached one died', async () => {
    const { holder, driver, third, takeOver, jobId, answer, outcomeOf } = await startInstances();
    holder.driverCache.note(jobId, driver.driver);
    await driver.instance.die();
    takeOver(third);
    expect(await outcomeOf(holder.byRequest.acknowledge(answer))).toEqual(ACCEPTED);
    expect(third.state.applied).toEqual([`${jobId} acknowledged`]);
  });

  it('finds a driver that joined after the last membership read', async () => {
    const { holder, driver, jobId, answer, outcomeOf } = await startInstances();
    holder.state.joined.add('driver');
    expect(await outcomeOf(holder.byRequest.acknowledge(answer))).toEqual(ACCEPTED);
    expect(driver.state.applied).toEqual([`${jobId} acknowledged`]);
    expect(await outcomeOf(holder.byRequest.cancel(jobId, 'gone'))).toEqual({ kind: 'cancelled' });
  });

  it('is answered by the driver, without the job record', async () => {
    const { holder, driver, jobId, answer, outcomeOf, sent } = await startInstances();
    expect(await outcomeOf(holder.byRequest.acknowledge(answer))).toEqual(ACCEPTED);
    expect(sent.find(({ to }) => to === 'holder')?.text).not.toContain('timeline');
    driver.state.answer = async () => ({ kind: 'ignored', reason: 'fenced' });
    expect(await outcomeOf(holder.byRequest.finish(answer, RESULT))).toEqual({
      kind: 'ignored',
      reason: 'fenced',
    });
    expect(driver.state.applied).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
  });

  it('waits for the replay while the store may have lost the job', async () => {
    const { holder, driver, jobId, answer, clock, outcomeOf } = await startInstances();
    holder.state.lost.add(jobId);
    holder.state.replayed = new Promise((resolve) => clock.after(100, resolve));
    const finishing = holder.byRequest.finish(answer, RESULT);
    await clock.advance(99);
    holder.state.lost.delete(jobId);
    expect([holder.state.applied, driver.state.applied]).toEqual([[], []]);
    await clock.advance(1);
    expect(await outcomeOf(finishing)).toEqual(ACCEPTED);
    expect([holder.state.applied, driver.state.applied]).toEqual([[], [`${jobId} finished`]]);
  });

  it('on a socket is kept while the store may have lost the job', async () => {
    const { holder, driver, jobId, answer, clock } = await startInstances();
    holder.state.lost.add(jobId);
    holder.state.replayed = new Promise(() => {});
    await holder.bySocket.finish(answer, RESULT);
    await clock.advance(SOON_MS);
    expect([holder.pending.size(), holder.state.applied, holder.state.waits]).toEqual([1, [], 0]);
    holder.state.lost.delete(jobId);
    await clock.advance(SOON_MS);
    expect(driver.state.applied).toEqual([`${jobId} finished`]);
  });

  it('is applied here if the replay did not restore the job', async () => {
    const { holder, jobId, answer, clock, outcomeOf } = await startInstances();
    holder.state.lost.add(jobId);
    holder.state.replayed = new Promise((resolve) => clock.after(100, resolve));
    const finishing = holder.byRequest.finish(answer, RESULT);
    await clock.advance(99);
    holder.state.replayed = undefined;
    await clock.advance(1);
    await outcomeOf(finishing);
    // The record is read once more and not found.
    expect(holder.state.applied).toEqual([`${jobId} finished`]);
  });

  it('is marked when its speech was too large for a message', async () => {
    const { holder, driver, answer, outcomeOf } = await startInstances();
    const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
    await outcomeOf(holder.byRequest.finish(answer, { ...RESULT, ttsAudio }));
    expect(driver.state.audio).toEqual(['dropped']);
  });

  it('fails with the error code of the driver', async () => {
    const { holder, driver, answer, outcomeOf } = await startInstances();
    driver.state.answer = async () => {
      throw new SchedulerError('RATE_LIMITED', 'slow down');
    };
    const outcome = outcomeOf(holder.byRequest.fail(answer, { code: 'PROCESSING_ERROR', message: 'no' }));
    expect(await outcome).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('is refused and not kept while its driver is being replaced', async () => {
    const { holder, driver, answer, outcomeOf, sent } = await startInstances();
    await driver.instance.die();
    expect(await outcomeOf(holder.byRequest.acknowledge(answer))).toMatchObject(DOWN);
    expect([holder.pending.size(), sent]).toEqual([0, []]);
  });

  it('is refused when its driver does not answer in time', async () => {
    const { holder, driver, answer, clock } = await startInstances();
    driver.state.answer = () => new Promise(() => {});
    const outcome = holder.byRequest.acknowledge(answer).catch((fault: unknown) => fault);
    await clock.advance(ANSWER_MS);
    expect(await outcome).toMatchObject(DOWN);
  });

  it('is refused while the record of the driver cannot be read', async () => {
    const { holder, answer } = await startInstances();
    holder.store.plan({ fault: 'throw' });
    await expect(holder.byRequest.acknowledge(answer)).rejects.toMatchObject(DOWN);
  });
});

describe('a cancel', () => {
  it('is done here if this instance drives the job, or it is settled', async () => {
    const { holder, driveBy, jobs, jobId, sent } = await startInstances();
    const own = await driveBy(holder);
    await jobs.settle(jobId);
    for (const each of [own, jobId, 'job-forgotten']) await holder.byRequest.cancel(each, 'closed');
    expect(holder.state.applied).toEqual(
      [own, jobId, 'job-forgotten'].map((id) => `${id} closed JOB_CANCELLED`),
    );
    expect(sent).toEqual([]);
  });

  it('is sent to the driver with its error code', async () => {
    const { holder, driver, jobId, outcomeOf } = await startInstances();
    driver.state.cancelled = { kind: 'settled' };
    expect(await outcomeOf(holder.byRequest.cancel(jobId, 'gap', 'RESULT_TIMEOUT'))).toEqual({
      kind: 'settled',
    });
    expect(await outcomeOf(holder.byRequest.cancel(jobId, 'closed'))).toEqual({ kind: 'settled' });
    expect(driver.state.applied).toEqual([`${jobId} gap RESULT_TIMEOUT`, `${jobId} closed JOB_CANCELLED`]);
  });

  it('is refused while the driver is being replaced', async () => {
    const { holder, driver, jobId } = await startInstances();
    await driver.instance.die();
    await expect(holder.byRequest.cancel(jobId, 'closed')).rejects.toMatchObject(DOWN);
    expect(holder.state.applied).toEqual([]);
  });

  it('goes on to the new driver after a takeover', async () => {
    const { holder, driver, third, takeOver, jobId, outcomeOf } = await startInstances();
    holder.driverCache.note(jobId, driver.driver);
    takeOver(third);
    expect(await outcomeOf(holder.byRequest.cancel(jobId, 'closed'))).toEqual({ kind: 'cancelled' });
    expect([driver.state.applied, third.state.applied]).toEqual([[], [`${jobId} closed JOB_CANCELLED`]]);
  });
});

describe('a message that reaches a former driver', () => {
  it('goes on to the new driver, whose answer comes back', async () => {
    const { holder, driver, third, takeOver, jobId, answer, outcomeOf } = await startInstances();
    holder.driverCache.note(jobId, driver.driver);
    takeOver(third);
    third.state.answer = async () => ({ kind: 'ignored', reason: 'lease_lost' });
    const verdict = { kind: 'ignored', reason: 'lease_lost' };
    expect(await outcomeOf(holder.byRequest.acknowledge(answer))).toEqual(verdict);
    expect([driver.state.applied, third.state.applied]).toEqual([[], [`${jobId} acknowledged`]]);
  });

  it('goes on to the new driver also without a waiting caller', async () => {
    const { holder, driver, third, takeOver, jobId, answer, settle, isEmpty } = await startInstances();
    holder.driverCache.note(jobId, driver.driver);
    takeOver(third);
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    expect([driver.state.applied, third.state.applied]).toEqual([[], [`${jobId} finished`]]);
    expect(await isEmpty('driver')).toBe(true);
  });

  it('waits in the inbox while the job has no driver', async () => {
    const { driver, holder, third, takeOver, jobs, jobId, answer, clock, settle, isEmpty } =
      await startInstances();
    holder.driverCache.note(jobId, driver.driver);
    driver.state.drives.delete(jobId);
    jobs.assign(jobId, 'gone/gone-1');
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    expect(await isEmpty('driver')).toBe(false);
    takeOver(third);
    await clock.advance(COMES_AGAIN_MS);
    expect(third.state.applied).toEqual([`${jobId} finished`]);
    expect(await isEmpty('driver')).toBe(true);
  });

  it('is read again if its handler takes too long', async () => {
    const { holder, driver, jobId, answer, clock, settle, isEmpty } = await startInstances();
    const { answer: usual } = driver.state;
    driver.state.answer = () => new Promise(() => {});
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    driver.state.answer = usual;
    await clock.advance(2 * COMES_AGAIN_MS);
    expect(driver.state.applied).toEqual([`${jobId} finished`, `${jobId} finished`]);
    expect(await isEmpty('driver')).toBe(true);
  });
});
