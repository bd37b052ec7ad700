/** What nodes on sockets say of jobs that are driven elsewhere: handed over, or held while nobody can be told. */
import { describe, expect, it } from 'vitest';
import { isPending } from '../contracts/harness.ts';
import { RESULT } from '../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from './post-rig.ts';
import { INLINE_MAX_BYTES, SOON_MS, startDesks } from './remote-jobs-rig.ts';

const ACCEPTED = { kind: 'accepted' };
const FAILURE = { code: 'MODEL_LOAD_FAILED', message: 'no model' };

describe('what a node says of a job that is driven here', () => {
  it('is heard at once, with its whole result, and asks nobody', async () => {
    const { holder, driveBy, sent } = await startDesks();
    const jobId = await driveBy(holder);
    const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
    holder.state.say = async () => ({ kind: 'ignored', reason: 'fenced' });
    const verdict = holder.handedOver.finish({ jobId, nodeId: 'n', attempt: 1 }, { ...RESULT, ttsAudio });
    expect(await verdict).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(holder.state.audio).toEqual([ttsAudio]);
    expect([holder.store.calls(), holder.instance.state.looks, sent]).toEqual([0, 0, []]);
  });
});

describe('what a node says of a job that is driven elsewhere', () => {
  it('is handed over to its driver, in order, without waiting for a reply', async () => {
    const { holder, driver, jobId, answer, settle, sent } = await startDesks();
    driver.state.say = () => new Promise(() => {});
    expect(await holder.handedOver.acknowledge(answer)).toEqual(ACCEPTED);
    expect(await holder.handedOver.fail(answer, FAILURE)).toEqual(ACCEPTED);
    await settle();
    expect(driver.state.told).toEqual([`${jobId} acknowledged`]);
    expect(sent.map(({ to }) => to)).toEqual(['driver', 'driver']);
    expect(holder.state.told).toEqual([]);
    expect(holder.held.size()).toBe(0);
  });

  it('holds up nothing that its node says next, unless it is large: that would fill the memory', async () => {
    const ttsAudio = 'A'.repeat(20_000);
    const { holder, driver, driveBy, jobId, answer, clock } = await startDesks({
      inlineMaxBytes: ttsAudio.length,
    });
    const other = await driveBy(driver);
    holder.instance.way.plan({ method: 'send', fault: { delayMs: 100 } });
    const report = [
      holder.handedOver.acknowledge(answer),
      holder.handedOver.finish(answer, RESULT),
      holder.handedOver.finish({ ...answer, jobId: other }, { ...RESULT, ttsAudio }),
    ];
    expect(await Promise.all(report.map(isPending))).toEqual([false, false, true]);
    await clock.advance(200);
    expect(driver.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`, `${other} finished`]);
    expect(await isPending(report[2] as Promise<unknown>)).toBe(false);
  });

  it('arrives as it was said', async () => {
    const { holder, driver, jobId, answer, settle } = await startDesks();
    await holder.handedOver.acknowledge(answer);
    await holder.handedOver.fail(answer, FAILURE);
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    expect(driver.state.told).toEqual(
      ['acknowledged', 'failed MODEL_LOAD_FAILED', 'finished'].map((word) => `${jobId} ${word}`),
    );
    expect(driver.state.audio).toEqual([RESULT.ttsAudio]);
  });

  it('goes where the assignment said without asking the store, until its last word', async () => {
    const { holder, driver, answer, settle } = await startDesks();
    holder.driverCache.note(answer.jobId, driver.driver);
    await holder.handedOver.acknowledge(answer);
    expect(holder.driverCache.find(answer.jobId)).toBe(driver.driver);
    await holder.handedOver.finish(answer, RESULT);
    await settle();
    expect(holder.store.calls()).toBe(0);
    expect(holder.driverCache.find(answer.jobId)).toBeUndefined();
    expect(driver.state.told).toHaveLength(2);
  });

  it('loses speech that is too large for a message, and says so', async () => {
    const { holder, driver, answer, settle } = await startDesks();
    for (const length of [INLINE_MAX_BYTES, INLINE_MAX_BYTES + 1])
      await holder.handedOver.finish(answer, { ...RESULT, ttsAudio: 'A'.repeat(length) });
    await settle();
    expect(driver.state.audio).toEqual(['A'.repeat(INLINE_MAX_BYTES), 'dropped']);
  });

  it('is heard here if the job is settled or unknown: only a slot is left to give back', async () => {
    const { holder, jobs, jobId, answer, sent, settle } = await startDesks();
    await jobs.settle(jobId);
    holder.state.say = async () => ({ kind: 'ignored', reason: 'settled' });
    await holder.handedOver.finish(answer, RESULT);
    await holder.handedOver.finish({ ...answer, jobId: 'job-forgotten' }, RESULT);
    await settle();
    expect(holder.state.told).toEqual([`${jobId} finished`, 'job-forgotten finished']);
    expect([sent, holder.held.size()]).toEqual([[], 0]);
  });
});

describe('what a node says while its job has no driver', () => {
  it('is held and brought to the successor, in order and once', async () => {
    const { holder, driver, third, takeOver, jobId, answer, clock } = await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    await driver.instance.die();
    expect(await holder.handedOver.acknowledge(answer)).toEqual(ACCEPTED);
    expect(await holder.handedOver.finish(answer, RESULT)).toEqual(ACCEPTED);
    await clock.advance(3 * SOON_MS);
    expect([holder.held.size(), third.state.told]).toEqual([2, []]);
    takeOver(third);
    await clock.advance(SOON_MS);
    expect(third.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
    await clock.advance(COMES_AGAIN_MS);
    expect(third.state.told).toHaveLength(2);
    expect(holder.held.size()).toBe(0);
  });

  it('is held while the store has no trace of an assigned job: it was emptied, and will be told again', async () => {
    const { holder, driver, third, takeOver, jobId, answer, clock, settle } = await startDesks();
    const { driverOf } = holder.store.port;
    holder.driverCache.note(jobId, driver.driver);
    await driver.instance.die();
    holder.store.port.driverOf = async () => undefined;
    await holder.handedOver.finish(answer, RESULT);
    await clock.advance(3 * SOON_MS);
    expect([holder.state.told, holder.held.size()]).toEqual([[], 1]);
    holder.store.port.driverOf = driverOf;
    takeOver(third);
    await clock.advance(SOON_MS);
    await settle();
    expect(third.state.told).toEqual([`${jobId} finished`]);
  });

  it('is heard here when it is this instance that takes the job over', async () => {
    const { holder, driver, takeOver, jobId, answer, clock } = await startDesks();
    await driver.instance.die();
    await holder.handedOver.acknowledge(answer);
    takeOver(holder);
    await clock.advance(SOON_MS);
    expect(holder.state.told).toEqual([`${jobId} acknowledged`]);
  });

  it('stays held if it could not be heard here either', async () => {
    const { holder, driver, takeOver, jobId, answer, clock } = await startDesks();
    await driver.instance.die();
    await holder.handedOver.acknowledge(answer);
    takeOver(holder);
    const { say } = holder.state;
    holder.state.say = async () => {
      throw new Error('the store is away');
    };
    await clock.advance(SOON_MS);
    expect(holder.held.size()).toBe(1);
    holder.state.say = say;
    await clock.advance(SOON_MS);
    expect(holder.held.size()).toBe(0);
    expect(holder.state.told).toEqual([`${jobId} acknowledged`, `${jobId} acknowledged`]);
  });

  it('is held while this instance is taking the job over: its record says so before its engine knows', async () => {
    const { holder, takeOver, jobs, jobId, answer, clock } = await startDesks();
    jobs.assign(jobId, holder.driver);
    await holder.handedOver.acknowledge(answer);
    await clock.advance(SOON_MS);
    expect([holder.state.told, holder.held.size()]).toEqual([[], 1]);
    takeOver(holder);
    await clock.advance(SOON_MS);
    expect(holder.state.told).toEqual([`${jobId} acknowledged`]);
  });

  it('goes before what is said once there is a driver again, also if that is this instance', async () => {
    const { holder, driver, third, takeOver, jobId, answer, clock, settle } = await startDesks();
    await driver.instance.die();
    for (const successor of [third, holder]) {
      successor.state.told.length = 0;
      await holder.handedOver.acknowledge(answer);
      await settle();
      takeOver(successor);
      const ttsAudio = 'A'.repeat(INLINE_MAX_BYTES + 1);
      expect(await holder.handedOver.finish(answer, { ...RESULT, ttsAudio })).toEqual(ACCEPTED);
      expect(successor.state.told).toEqual([]);
      await clock.advance(SOON_MS);
      expect(successor.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
      expect(successor.state.audio).toEqual([successor === holder ? ttsAudio : 'dropped']);
      takeOver(driver);
      holder.state.drives.clear();
    }
  });

  it('goes first also if it is on its way when this instance takes the job over', async () => {
    const { holder, driver, takeOver, jobId, answer, clock } = await startDesks();
    await driver.instance.die();
    await holder.handedOver.acknowledge(answer);
    takeOver(holder);
    const finished = holder.handedOver.finish(answer, RESULT);
    await clock.advance(SOON_MS);
    expect(await finished).toEqual(ACCEPTED);
    await clock.advance(SOON_MS);
    expect(holder.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
  });

  it('is held by a driver that came back under its name: what its former life drove is nobody’s yet', async () => {
    const { driver, join, jobs, jobId, answer, clock, settle } = await startDesks();
    await driver.instance.die();
    const reborn = await join('driver', 'driver-2');
    await reborn.handedOver.acknowledge(answer);
    await settle();
    expect([reborn.state.told, reborn.held.size()]).toEqual([[], 1]);
    jobs.assign(jobId, reborn.driver);
    reborn.state.drives.add(jobId);
    await clock.advance(SOON_MS);
    expect(reborn.state.told).toEqual([`${jobId} acknowledged`]);
  });

  it.each(['driverOf', 'send'] as const)('is held while the store is away (%s)', async (method) => {
    const { holder, driver, jobId, answer, clock } = await startDesks();
    if (method === 'driverOf') holder.store.plan({ fault: 'throw' });
    else holder.instance.way.plan({ method, fault: 'throw' });
    expect(await holder.handedOver.finish(answer, RESULT)).toEqual(ACCEPTED);
    await clock.advance(3 * SOON_MS);
    expect([holder.held.size(), driver.state.told]).toEqual([1, []]);
    holder.store.heal();
    holder.instance.way.heal();
    await clock.advance(SOON_MS);
    expect(driver.state.told).toEqual([`${jobId} finished`]);
  });

  it('is held while its driver takes no more messages', async () => {
    const { holder, driver, inbox, answer, clock, settle } = await startDesks();
    driver.state.say = () => new Promise(() => {});
    for (let at = 0; at < 20; at += 1) await inbox.send('driver', `filler-${at} {}`);
    await holder.handedOver.acknowledge(answer);
    await settle();
    expect(holder.held.size()).toBe(1);
    const stuck = await inbox.takeAgain('driver', { max: 100, idleMs: 0 });
    await inbox.ack(
      'driver',
      stuck.messages.map(({ messageId }) => messageId),
    );
    await clock.advance(SOON_MS);
    await settle();
    expect(holder.held.size()).toBe(0);
    expect(driver.state.told).toHaveLength(1);
  });

  it('is held by a fenced instance until it may speak again', async () => {
    const { holder, driver, answer, clock, settle } = await startDesks();
    holder.instance.state.isFenced = true;
    await holder.handedOver.acknowledge(answer);
    await settle();
    expect(holder.held.size()).toBe(1);
    holder.instance.state.isFenced = false;
    await clock.advance(SOON_MS);
    expect(driver.state.told).toHaveLength(1);
  });
});
