/** Reports on sockets about jobs of other drivers: sent to the driver, or kept until it can be reached. */
import { describe, expect, it } from 'vitest';
import { isPending } from '../../contracts/harness.ts';
import { RESULT } from '../../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from '../messaging/message-bus-rig.ts';
import { INLINE_MAX_BYTES, SOON_MS, startInstances } from './reports-rig.ts';

const ACCEPTED = { kind: 'accepted' };
const FAILURE = { code: 'MODEL_LOAD_FAILED', message: 'no model' };

describe('a report on a socket, of a job that this instance drives', () => {
  it('is applied at once, with its whole result and without a message', async () => {
    const { holder, driveBy, sent } = await startInstances();
    const jobId = await driveBy(holder);
    const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
    holder.state.answer = async () => ({ kind: 'ignored', reason: 'fenced' });
    const verdict = holder.bySocket.finish({ jobId, nodeId: 'n', attempt: 1 }, { ...RESULT, ttsAudio });
    expect(await verdict).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(holder.state.audio).toEqual([ttsAudio]);
    expect([holder.store.calls(), holder.instance.state.looks, sent]).toEqual([0, 0, []]);
  });
});

describe('a report on a socket, of a job that another instance drives', () => {
  it('is sent to the driver in order, without waiting for a reply', async () => {
    const { holder, driver, jobId, answer, settle, sent } = await startInstances();
    driver.state.answer = () => new Promise(() => {});
    expect(await holder.bySocket.acknowledge(answer)).toEqual(ACCEPTED);
    expect(await holder.bySocket.fail(answer, FAILURE)).toEqual(ACCEPTED);
    await settle();
    expect(driver.state.applied).toEqual([`${jobId} acknowledged`]);
    expect(sent.map(({ to }) => to)).toEqual(['driver', 'driver']);
    expect(holder.state.applied).toEqual([]);
    expect(holder.pending.size()).toBe(0);
  });

  it('blocks the next message of its socket only if it is large', async () => {
    const ttsAudio = 'A'.repeat(20_000);
    const { holder, driver, driveBy, jobId, answer, clock } = await startInstances({
      inlineMaxBytes: ttsAudio.length,
    });
    const other = await driveBy(driver);
    holder.instance.connection.plan({ method: 'send', fault: { delayMs: 100 } });
    const report = [
      holder.bySocket.acknowledge(answer),
      holder.bySocket.finish(answer, RESULT),
      holder.bySocket.finish({ ...answer, jobId: other }, { ...RESULT, ttsAudio }),
    ];
    expect(await Promise.all(report.map(isPending))).toEqual([false, false, true]);
    await clock.advance(200);
    expect(driver.state.applied).toEqual([`${jobId} acknowledged`, `${jobId} finished`, `${other} finished`]);
    expect(await isPending(report[2] as Promise<unknown>)).toBe(false);
  });

  it('arrives unchanged', async () => {
    const { holder, driver, jobId, answer, settle } = await startInstances();
    await holder.bySocket.acknowledge(answer);
    await holder.bySocket.fail(answer, FAILURE);
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    expect(driver.state.applied).toEqual(
      ['acknowledged', 'failed MODEL_LOAD_FAILED', 'finished'].map((word) => `${jobId} ${word}`),
    );
    expect(driver.state.audio).toEqual([RESULT.ttsAudio]);
  });

  it('finds the driver in the cache until the last report', async () => {
    const { holder, driver, answer, settle } = await startInstances();
    holder.driverCache.note(answer.jobId, driver.driver);
    await holder.bySocket.acknowledge(answer);
    expect(holder.driverCache.find(answer.jobId)).toBe(driver.driver);
    await holder.bySocket.finish(answer, RESULT);
    await settle();
    expect(holder.store.calls()).toBe(0);
    expect(holder.driverCache.find(answer.jobId)).toBeUndefined();
    expect(driver.state.applied).toHaveLength(2);
  });

  it('is marked when its speech was too large for a message', async () => {
    const { holder, driver, answer, settle } = await startInstances();
    for (const length of [INLINE_MAX_BYTES, INLINE_MAX_BYTES + 1])
      await holder.bySocket.finish(answer, { ...RESULT, ttsAudio: 'A'.repeat(length) });
    await settle();
    expect(driver.state.audio).toEqual(['A'.repeat(INLINE_MAX_BYTES), 'dropped']);
  });

  it('is applied here if the job is settled or unknown', async () => {
    const { holder, jobs, jobId, answer, sent, settle } = await startInstances();
    await jobs.settle(jobId);
    holder.state.answer = async () => ({ kind: 'ignored', reason: 'settled' });
    await holder.bySocket.finish(answer, RESULT);
    await holder.bySocket.finish({ ...answer, jobId: 'job-forgotten' }, RESULT);
    await settle();
    expect(holder.state.applied).toEqual([`${jobId} finished`, 'job-forgotten finished']);
    expect([sent, holder.pending.size()]).toEqual([[], 0]);
  });
});

describe('a report on a socket, of a job without a driver', () => {
  it('is kept and sent to the new driver, in order and once', async () => {
    const { holder, driver, third, takeOver, jobId, answer, clock } = await startInstances();
    holder.driverCache.note(jobId, driver.driver);
    await driver.instance.die();
    expect(await holder.bySocket.acknowledge(answer)).toEqual(ACCEPTED);
    expect(await holder.bySocket.finish(answer, RESULT)).toEqual(ACCEPTED);
    await clock.advance(3 * SOON_MS);
    expect([holder.pending.size(), third.state.applied]).toEqual([2, []]);
    takeOver(third);
    await clock.advance(SOON_MS);
    expect(third.state.applied).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
    await clock.advance(COMES_AGAIN_MS);
    expect(third.state.applied).toHaveLength(2);
    expect(holder.pending.size()).toBe(0);
  });

  it('is kept while the store has lost an assigned job', async () => {
    const { holder, driver, third, takeOver, jobId, answer, clock, settle } = await startInstances();
    const { driverOf } = holder.store.port;
    holder.driverCache.note(jobId, driver.driver);
    await driver.instance.die();
    holder.store.port.driverOf = async () => undefined;
    await holder.bySocket.finish(answer, RESULT);
    await clock.advance(3 * SOON_MS);
    expect([holder.state.applied, holder.pending.size()]).toEqual([[], 1]);
    holder.store.port.driverOf = driverOf;
    takeOver(third);
    await clock.advance(SOON_MS);
    await settle();
    expect(third.state.applied).toEqual([`${jobId} finished`]);
  });

  it('is applied here when this instance takes the job over', async () => {
    const { holder, driver, takeOver, jobId, answer, clock } = await startInstances();
    await driver.instance.die();
    await holder.bySocket.acknowledge(answer);
    takeOver(holder);
    await clock.advance(SOON_MS);
    expect(holder.state.applied).toEqual([`${jobId} acknowledged`]);
  });

  it('is kept if the engine here fails to apply it', async () => {
    const { holder, driver, takeOver, jobId, answer, clock } = await startInstances();
    await driver.instance.die();
    await holder.bySocket.acknowledge(answer);
    takeOver(holder);
    const { answer: usual } = holder.state;
    holder.state.answer = async () => {
      throw new Error('the store is away');
    };
    await clock.advance(SOON_MS);
    expect(holder.pending.size()).toBe(1);
    holder.state.answer = usual;
    await clock.advance(SOON_MS);
    expect(holder.pending.size()).toBe(0);
    expect(holder.state.applied).toEqual([`${jobId} acknowledged`, `${jobId} acknowledged`]);
  });

  it('is kept while this instance is taking the job over', async () => {
    const { holder, takeOver, jobs, jobId, answer, clock } = await startInstances();
    jobs.assign(jobId, holder.driver);
    await holder.bySocket.acknowledge(answer);
    await clock.advance(SOON_MS);
    expect([holder.state.applied, holder.pending.size()]).toEqual([[], 1]);
    takeOver(holder);
    await clock.advance(SOON_MS);
    expect(holder.state.applied).toEqual([`${jobId} acknowledged`]);
  });

  it('is sent before later reports once the job has a driver', async () => {
    const { holder, driver, third, takeOver, jobId, answer, clock, settle } = await startInstances();
    await driver.instance.die();
    for (const successor of [third, holder]) {
      successor.state.applied.length = 0;
      await holder.bySocket.acknowledge(answer);
      await settle();
      takeOver(successor);
      const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
      expect(await holder.bySocket.finish(answer, { ...RESULT, ttsAudio })).toEqual(ACCEPTED);
      expect(successor.state.applied).toEqual([]);
      await clock.advance(SOON_MS);
      expect(successor.state.applied).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
      expect(successor.state.audio).toEqual([successor === holder ? ttsAudio : 'dropped']);
      takeOver(driver);
      holder.state.drives.clear();
    }
  });

  it('is applied first if it was on its way during the takeover', async () => {
    const { holder, driver, takeOver, jobId, answer, clock } = await startInstances();
    await driver.instance.die();
    await holder.bySocket.acknowledge(answer);
    takeOver(holder);
    const finished = holder.bySocket.finish(answer, RESULT);
    await clock.advance(SOON_MS);
    expect(await finished).toEqual(ACCEPTED);
    await clock.advance(SOON_MS);
    expect(holder.state.applied).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
  });

  it('is kept by a restarted driver until it has taken the job over', async () => {
    const { driver, join, jobs, jobId, answer, clock, settle } = await startInstances();
    await driver.instance.die();
    const restarted = await join('driver', 'driver-2');
    await restarted.bySocket.acknowledge(answer);
    await settle();
    expect([restarted.state.applied, restarted.pending.size()]).toEqual([[], 1]);
    jobs.assign(jobId, restarted.driver);
    restarted.state.drives.add(jobId);
    await clock.advance(SOON_MS);
    expect(restarted.state.applied).toEqual([`${jobId} acknowledged`]);
  });

  it.each(['driverOf', 'send'] as const)('is kept while Redis does not answer (%s)', async (method) => {
    const { holder, driver, jobId, answer, clock } = await startInstances();
    if (method === 'driverOf') holder.store.plan({ fault: 'throw' });
    else holder.instance.connection.plan({ method, fault: 'throw' });
    expect(await holder.bySocket.finish(answer, RESULT)).toEqual(ACCEPTED);
    await clock.advance(3 * SOON_MS);
    expect([holder.pending.size(), driver.state.applied]).toEqual([1, []]);
    holder.store.heal();
    holder.instance.connection.heal();
    await clock.advance(SOON_MS);
    expect(driver.state.applied).toEqual([`${jobId} finished`]);
  });

  it('is kept while the inbox of its driver is full', async () => {
    const { holder, driver, inbox, answer, clock, settle } = await startInstances();
    driver.state.answer = () => new Promise(() => {});
    for (let at = 0; at < 20; at += 1) await inbox.send('driver', `filler-${at} {}`);
    await holder.bySocket.acknowledge(answer);
    await settle();
    expect(holder.pending.size()).toBe(1);
    const stuck = await inbox.takeAgain('driver', { max: 100, idleMs: 0 });
    await inbox.ack(
      'driver',
      stuck.messages.map(({ messageId }) => messageId),
    );
    await clock.advance(SOON_MS);
    await settle();
    expect(holder.pending.size()).toBe(0);
    expect(driver.state.applied).toHaveLength(1);
  });

  it('is kept by a fenced instance until the fence ends', async () => {
    const { holder, driver, answer, clock, settle } = await startInstances();
    holder.instance.state.isFenced = true;
    await holder.bySocket.acknowledge(answer);
    await settle();
    expect(holder.pending.size()).toBe(1);
    holder.instance.state.isFenced = false;
    await clock.advance(SOON_MS);
    expect(driver.state.applied).toHaveLength(1);
  });
});
