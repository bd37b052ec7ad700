/** Slots of jobs that are acknowledged over HTTP: whoever hears it keeps them where another drives the job, and that one is told so. */
import { describe, expect, it } from 'vitest';
import { RESULT } from '../contracts/job-draft.ts';
import { ANSWER_MS, startDesks } from './remote-jobs-rig.ts';

const ACCEPTED = { kind: 'accepted' };
const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };

describe('the slot of a job that is acknowledged over HTTP', () => {
  it('is said to be kept to a driver elsewhere, and is when that has accepted it', async () => {
    const { holder, driver, jobId, answer, outcomeOf } = await startDesks();
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual(ACCEPTED);
    expect(driver.state.saidKept).toEqual([jobId]);
    expect(holder.state.slots).toEqual([`${jobId} taken beside, driven elsewhere`]);
    expect(driver.state.slots).toEqual([]);
  });

  it('is said so to nobody by whoever does not keep it, nor of any other word', async () => {
    const { holder, driver, jobId, answer, outcomeOf } = await startDesks();
    holder.state.isKeeping = false;
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual(ACCEPTED);
    expect(driver.state.saidKept).toEqual([]);
    holder.state.isKeeping = true;
    await outcomeOf(holder.heard.finish(answer, RESULT));
    expect(driver.state.told).toEqual([`${jobId} acknowledged`, `${jobId} finished`]);
    expect(holder.state.slots).toHaveLength(1);
  });

  it('is left to the driver if that is here', async () => {
    const { holder, driveBy } = await startDesks();
    const jobId = await driveBy(holder);
    await holder.heard.acknowledge({ jobId, nodeId: 'n', attempt: 1 });
    expect(holder.state.slots).toEqual([`${jobId} taken beside, driven here`]);
    expect(holder.state.saidKept).toEqual([]);
  });

  it('is kept here if another took the job over while it was told', async () => {
    const { holder, third, jobs, driveBy, clock, outcomeOf } = await startDesks();
    const jobId = await driveBy(holder);
    holder.state.say = async () => {
      holder.state.drives.delete(jobId);
      jobs.assign(jobId, third.driver);
      third.state.drives.add(jobId);
      return { kind: 'ignored', reason: 'fenced' };
    };
    expect(await outcomeOf(holder.heard.acknowledge({ jobId, nodeId: 'n', attempt: 1 }))).toEqual(ACCEPTED);
    await clock.advance(10);
    expect(third.state.told).toEqual([`${jobId} acknowledged`]);
    expect(holder.state.slots).toEqual([`${jobId} taken beside, driven elsewhere`]);
  });

  it('is not kept if the driver says that it lasts already', async () => {
    const { holder, driver, jobs, jobId, answer, outcomeOf } = await startDesks();
    driver.state.say = async () => ({ kind: 'accepted', job: await jobs.record(jobId), isLasting: true });
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual({ ...ACCEPTED, isLasting: true });
    expect([driver.state.saidKept, holder.state.slots]).toEqual([[jobId], []]);
  });

  it('is not kept if the driver wants nothing of it', async () => {
    const { holder, driver, answer, outcomeOf } = await startDesks();
    driver.state.say = async () => ({ kind: 'ignored', reason: 'fenced' });
    expect(await outcomeOf(holder.heard.acknowledge(answer))).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(holder.state.slots).toEqual([]);
  });

  it('I1 no oversell: is kept though the driver does not answer: it may have heard that it is, and died over it', async () => {
    const { holder, driver, jobId, answer, clock } = await startDesks();
    driver.state.say = () => new Promise(() => {});
    const acknowledging = holder.heard.acknowledge(answer).catch((fault: unknown) => fault);
    await clock.advance(ANSWER_MS);
    expect(await acknowledging).toMatchObject(DOWN);
    expect(driver.state.saidKept).toEqual([jobId]);
    expect(holder.state.slots).toEqual([`${jobId} taken beside, driven elsewhere`]);
  });

  it('is not kept for a driver that was told nothing', async () => {
    const { holder, driver, jobId, answer, clock } = await startDesks();
    // Its inbox has no room.
    for (let message = 0; message < 20; message += 1)
      await holder.instance.bus
        .tell('driver', { topic: 'nothing', lane: jobId, body: {} })
        .catch(() => false);
    const acknowledging = holder.heard.acknowledge(answer).catch((fault: unknown) => fault);
    await clock.advance(ANSWER_MS);
    expect(await acknowledging).toMatchObject(DOWN);
    expect([driver.state.told, holder.state.slots]).toEqual([[], []]);
  });
});

describe('who drives a job whose last word came over HTTP', () => {
  it('is not remembered any longer', async () => {
    const { holder, driver, jobId, answer, outcomeOf } = await startDesks();
    holder.driverCache.note(jobId, driver.driver);
    await outcomeOf(holder.heard.acknowledge(answer));
    expect(holder.driverCache.find(jobId)).toBe(driver.driver);
    await outcomeOf(holder.heard.finish(answer, RESULT));
    expect([holder.driverCache.size(), holder.store.calls()]).toEqual([0, 0]);
  });
});
