/** Assignments to acknowledging nodes of other instances: the driver, not the holder, records DISPATCHED. */
import { describe, expect, it } from 'vitest';
import { ANSWER_MS, startDriverAndHolder } from './remote-nodes-rig.ts';

const WRITTEN = { kind: 'written', generation: 7 };

async function start() {
  const rig = await startDriverAndHolder();
  rig.holder.acknowledging.add('node-b');
  return rig;
}

describe('a node of another instance that acknowledges', () => {
  it('gets its job; the driver records DISPATCHED itself', async () => {
    const { driver, holder, jobs, job, assignment, settle } = await start();
    const delivery = Promise.resolve(driver.link.deliver(assignment));
    await settle();
    expect(holder.delivered).toHaveLength(1);
    expect(await delivery).toEqual(WRITTEN);
    expect([holder.store.calls(), holder.published]).toEqual([0, []]);
    expect((await jobs.record(job.jobId)).state).toBe('RESERVED');
  });

  it('has its driver in the cache before its first report', async () => {
    const { a, driver, holder, job, assignment, clock } = await start();
    void driver.link.deliver(assignment);
    await clock.advance(1);
    expect(holder.driverCache.find(job.jobId)).toBe(a.driver);
  });

  it('receives a cancel after its assignment when the reply is lost', async () => {
    const { b, driver, holder, job, assignment, clock } = await start();
    b.way.plan({ method: 'send', fault: 'throw' });
    const delivery = driver.link.deliver(assignment);
    await clock.advance(ANSWER_MS);
    expect(await delivery).toEqual({ kind: 'unknown', reason: 'holder_silent' });
    // The driver decides whether to cancel: there may be no other node.
    expect(holder.cancelled).toEqual([]);
    driver.link.cancel('node-b', job.jobId, 'superseded');
    await clock.advance(2);
    expect(holder.delivered).toHaveLength(1);
    expect(holder.cancelled).toEqual([`node-b ${job.jobId} superseded`]);
  });
});
