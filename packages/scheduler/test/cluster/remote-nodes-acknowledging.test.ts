/** Assignments to nodes of others that say when they have a job: nobody writes that for the driver, and what they say at once goes along. */
import { describe, expect, it } from 'vitest';
import { FIRST_WORDS_MS } from '../../src/cluster/holder/first-words.ts';
import { isPending } from '../contracts/harness.ts';
import { ANSWER_MS, startDriverAndHolder } from './remote-nodes-rig.ts';

const WRITTEN = { kind: 'written', generation: 7, isCounted: true };

async function start() {
  const rig = await startDriverAndHolder();
  rig.holder.acknowledging.add('node-b');
  return rig;
}

describe('a node of another instance that acknowledges', () => {
  it('gets its job, and the driver hears so with what cannot wait, and writes it down itself', async () => {
    const { a, driver, holder, jobs, job, assignment, clock } = await start();
    const delivery = Promise.resolve(driver.link.deliver(assignment));
    await clock.advance(FIRST_WORDS_MS - 1);
    expect(holder.delivered).toHaveLength(1);
    expect(await isPending(delivery)).toBe(true);
    holder.firstWords.end('another job', 'another driver');
    await clock.advance(0);
    expect(await isPending(delivery)).toBe(true);
    holder.firstWords.end(job.jobId, a.driver);
    await clock.advance(0);
    expect(await delivery).toEqual(WRITTEN);
    expect([holder.store.calls(), holder.published]).toEqual([0, []]);
    expect((await jobs.record(job.jobId)).state).toBe('RESERVED');
  });

  it('is not waited for longer than a moment', async () => {
    const { driver, assignment, clock } = await start();
    const delivery = Promise.resolve(driver.link.deliver(assignment));
    await clock.advance(FIRST_WORDS_MS - 1);
    expect(await isPending(delivery)).toBe(true);
    await clock.advance(2);
    expect(await delivery).toEqual(WRITTEN);
  });

  it('is known to be on this job before it says anything of it', async () => {
    const { a, driver, holder, job, assignment, clock } = await start();
    void driver.link.deliver(assignment);
    await clock.advance(1);
    expect(holder.driverCache.find(job.jobId)).toBe(a.driver);
  });

  it('is told to stop, behind its assignment, when nobody said in time that it was sent the job', async () => {
    const { b, driver, holder, job, assignment, clock } = await start();
    b.way.plan({ method: 'send', fault: 'throw' });
    const delivery = driver.link.deliver(assignment);
    await clock.advance(ANSWER_MS);
    expect(await delivery).toEqual({ kind: 'unknown', reason: 'holder_silent' });
    // Who drives the job decides about that: it may have nobody else to turn to.
    expect(holder.cancelled).toEqual([]);
    driver.link.cancel('node-b', job.jobId, 'superseded');
    await clock.advance(FIRST_WORDS_MS);
    expect(holder.delivered).toHaveLength(1);
    expect(holder.cancelled).toEqual([`node-b ${job.jobId} superseded`]);
  });
});
