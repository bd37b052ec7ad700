/** Answers as messages: which wait for a moment, which are remembered, how long one may take, and what is refused. */
import { describe, expect, it } from 'vitest';
import { FIRST_WORDS_MS } from '../../src/cluster/holder/first-words.ts';
import { RESULT } from '../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from './post-rig.ts';
import { ANSWER_MS, startDesks } from './remote-jobs-rig.ts';

const ACCEPTED = { kind: 'accepted' };

describe('an answer that is a message', () => {
  it('waits for a moment if its job was handed out just now; a last word takes it along', async () => {
    const { holder, driver, driveBy, answer, jobId, clock, sent } = await startDesks();
    const other = await driveBy(driver);
    for (const handed of [jobId, other]) {
      holder.driverCache.note(handed, driver.driver);
      void holder.firstWords.wait(handed, driver.driver);
      expect(await holder.handedOver.acknowledge({ ...answer, jobId: handed })).toEqual(ACCEPTED);
    }
    await clock.advance(FIRST_WORDS_MS - 1);
    expect(sent).toEqual([]);
    await holder.handedOver.finish(answer, RESULT);
    await clock.advance(0);
    expect(driver.state.told.sort()).toEqual(
      [`${jobId} acknowledged`, `${jobId} finished`, `${other} acknowledged`].sort(),
    );
    expect(driver.state.told.indexOf(`${jobId} acknowledged`)).toBeLessThan(
      driver.state.told.indexOf(`${jobId} finished`),
    );
  });

  it('is not waited for by its message longer than ten seconds: that comes again', async () => {
    const { holder, driver, answer, jobId, clock, settle } = await startDesks();
    driver.state.say = () => new Promise(() => {});
    await holder.handedOver.acknowledge(answer);
    await settle();
    expect(driver.state.told).toEqual([`${jobId} acknowledged`]);
    driver.state.say = async () => ({ kind: 'ignored', reason: 'fenced' });
    await clock.advance(9_000);
    expect(driver.state.told).toHaveLength(1);
    await clock.advance(2_000 + COMES_AGAIN_MS);
    expect(driver.state.told).toEqual(Array(2).fill(`${jobId} acknowledged`));
  });

  it('does not wait for ever behind a cancel of its job that the store keeps from being written', async () => {
    const { holder, driver, answer, jobId, clock } = await startDesks();
    driver.state.cancelled = new Promise(() => {});
    const cancelling = holder.heard.cancel(jobId, 'changed_mind').catch(() => 'unheard');
    await clock.advance(ANSWER_MS);
    expect(await cancelling).toBe('unheard');
    await holder.handedOver.finish(answer, RESULT);
    await clock.advance(11_000);
    expect(driver.state.told).toContain(`${jobId} finished`);
  });

  it('makes sense, or is refused: nothing of it is told to the engine', async () => {
    const { holder, driver, answer, clock } = await startDesks();
    const bodies = [
      null,
      { say: 'finished' },
      { say: 'finished', answer },
      { say: 'failed', answer, failure: { code: 1 } },
      { say: 'acknowledged', answer: { ...answer, attempt: '1' } },
      { say: 'toString', answer },
    ];
    for (const body of bodies)
      await holder.instance.bus.tell('driver', { topic: 'answer', lane: 'lane', body });
    await clock.advance(1_000);
    expect(driver.state.told).toEqual([]);
    expect(driver.instance.counted('scheduler_inbox_failures_total')).toBeGreaterThanOrEqual(bodies.length);
  });
});
