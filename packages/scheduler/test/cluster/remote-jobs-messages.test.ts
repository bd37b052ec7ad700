/** Node reports that travel as messages: how long handling one may take, and which are refused. */
import { describe, expect, it } from 'vitest';
import { RESULT } from '../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from './post-rig.ts';
import { ANSWER_MS, startDesks } from './remote-jobs-rig.ts';

describe('a node report sent as a message', () => {
  it('is retried when its handler takes longer than ten seconds', async () => {
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

  it('is handled although a cancel of its job hangs', async () => {
    const { holder, driver, answer, jobId, clock } = await startDesks();
    driver.state.cancelled = new Promise(() => {});
    const cancelling = holder.heard.cancel(jobId, 'changed_mind').catch(() => 'unheard');
    await clock.advance(ANSWER_MS);
    expect(await cancelling).toBe('unheard');
    await holder.handedOver.finish(answer, RESULT);
    await clock.advance(11_000);
    expect(driver.state.told).toContain(`${jobId} finished`);
  });

  it('is refused when malformed, without reaching the engine', async () => {
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
