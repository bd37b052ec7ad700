/** The driver of a hedged job dies: its record names both attempts. */
import { describe, expect, it } from 'vitest';
import { RESULT } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const HEDGE = {
  classes: new Set(['normal'] as const),
  overdueFactor: 3,
  budgetPercent: 20,
  allowsWithoutCancel: false,
};
const OTHER = { ...RESULT, textTranslated: 'of the hedge' };

/** The first instance has hedged a job and is gone; the second drives it. */
async function takenOver() {
  const instances = createInstances({ settings: { hedge: HEDGE } });
  const { first: driver, second: heir, addNode } = instances;
  await addNode('first', 4);
  for (let n = 0; n < 10; n += 1) {
    const { jobId } = await driver.dispatch();
    await driver.service.acknowledge(driver.last(jobId));
    await driver.clock.advance(1_000);
    await driver.service.finish(driver.last(jobId), RESULT);
  }
  const { jobId } = await driver.dispatch();
  const first = driver.last(jobId);
  await driver.service.acknowledge(first);
  await addNode('second', 4);
  await driver.clock.advance(3_100);
  await driver.clock.advance(100);
  const second = driver.last(jobId);
  expect(second).toEqual({ jobId, nodeId: 'second', attempt: 2 });
  driver.service.dropAll();
  await instances.takeOver(jobId);
  return { ...instances, heir, jobId, hedge: second, overdue: first };
}

describe('a hedged job whose driver is dead', () => {
  it('I4: ends with the result of the hedge, and the first attempt is cancelled', async () => {
    const { heir, jobId, hedge, overdue, record } = await takenOver();
    expect(await heir.service.acknowledge(hedge)).toMatchObject({ kind: 'accepted' });
    expect(await heir.service.finish(hedge, OTHER)).toMatchObject({ kind: 'accepted' });
    expect(heir.cancelled).toEqual([{ nodeId: 'first', jobId, reason: 'superseded' }]);
    expect(await heir.service.finish(overdue, RESULT)).toMatchObject({ kind: 'ignored' });
    expect((await record(jobId)).result).toEqual(OTHER);
    expect([await heir.used('first'), await heir.used('second')]).toEqual([0, 0]);
  });

  it('I4: ends with the result of the first attempt, and the hedge is cancelled', async () => {
    const { heir, jobId, hedge, overdue, record } = await takenOver();
    expect(await heir.service.finish(overdue, RESULT)).toMatchObject({ kind: 'accepted' });
    expect(heir.cancelled).toEqual([{ nodeId: 'second', jobId, reason: 'superseded' }]);
    expect(await heir.service.finish(hedge, OTHER)).toMatchObject({ kind: 'ignored' });
    expect((await record(jobId)).result).toEqual(RESULT);
    expect([await heir.used('first'), await heir.used('second')]).toEqual([0, 0]);
  });

  it('gets no second hedge, and a retry has a new number', async () => {
    const { heir, jobId, overdue, first, addNode } = await takenOver();
    await addNode('third', 4);
    await first.clock.advance(20_000);
    expect(heir.sent).toEqual([]);
    heir.service.audioReturned(jobId, { url: 'http://elsewhere/audio', bytes: 4 });
    await heir.service.fail(overdue, { code: 'PROCESSING_ERROR', message: 'boom' });
    expect(heir.last(jobId)).toMatchObject({ nodeId: 'third', attempt: 3 });
  });
});
