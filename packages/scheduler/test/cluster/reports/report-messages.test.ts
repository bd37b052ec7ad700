/** Node reports that travel as messages: how long handling one may take, and which are refused. */
import { describe, expect, it } from 'vitest';
import { RESULT } from '../../contracts/job-draft.ts';
import { COMES_AGAIN_MS } from '../messaging/message-bus-rig.ts';
import { ANSWER_MS, startInstances } from './reports-rig.ts';

describe('a node report sent as a message', () => {
  it('is retried when its handler takes longer than ten seconds', async () => {
    const { holder, driver, answer, jobId, clock, settle } = await startInstances();
    driver.state.answer = () => new Promise(() => {});
    await holder.bySocket.acknowledge(answer);
    await settle();
    expect(driver.state.applied).toEqual([`${jobId} acknowledged`]);
    driver.state.answer = async () => ({ kind: 'ignored', reason: 'fenced' });
    await clock.advance(9_000);
    expect(driver.state.applied).toHaveLength(1);
    await clock.advance(2_000 + COMES_AGAIN_MS);
    expect(driver.state.applied).toEqual(Array(2).fill(`${jobId} acknowledged`));
  });

  it('is handled although a cancel of its job hangs', async () => {
    const { holder, driver, answer, jobId, clock } = await startInstances();
    driver.state.cancelled = new Promise(() => {});
    const cancelling = holder.byRequest.cancel(jobId, 'changed_mind').catch(() => 'unheard');
    await clock.advance(ANSWER_MS);
    expect(await cancelling).toBe('unheard');
    await holder.bySocket.finish(answer, RESULT);
    await clock.advance(11_000);
    expect(driver.state.applied).toContain(`${jobId} finished`);
  });

  it('is refused when malformed, without reaching the engine', async () => {
    const { holder, driver, answer, clock } = await startInstances();
    const bodies = [
      null,
      { kind: 'finished' },
      { kind: 'finished', attempt: answer },
      { kind: 'failed', attempt: answer, failure: { code: 1 } },
      { kind: 'acknowledged', attempt: { ...answer, attempt: '1' } },
      { kind: 'toString', attempt: answer },
    ];
    for (const body of bodies)
      await holder.instance.bus.send('driver', { topic: 'report', lane: 'lane', body });
    await clock.advance(1_000);
    expect(driver.state.applied).toEqual([]);
    expect(driver.instance.counted('scheduler_inbox_failures_total')).toBeGreaterThanOrEqual(bodies.length);
  });
});
