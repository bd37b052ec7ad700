import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openSession, resume, spoken } from './support/session-client.ts';
import { audioOf, startHeld } from './support/session-held.ts';
import { figure } from './support/session-metrics.ts';

describe('a client without extensions', () => {
  it('a client without acknowledgements gets missed results once', async () => {
    const { app, each, url, gone, session: idle } = await startHeld();
    idle.cut();
    const supports = { supports: [] };
    const session = await openSession({ url }, supports);
    session.send(spoken(session, 7));
    await each.job();
    session.cut();
    await gone();
    each.finish(1);
    await eventually(async () => (await figure(app, 'scheduler_utterances_running')) === 0);
    const again = await resume(url, session, supports);
    await again.outcome();
    expect(again.frames.map(({ type }) => type)).toEqual(['session_init_ack', 'translation_result']);
    expect(again.outcomes()[0]).not.toHaveProperty('delivery_seq');
    again.cut();
    const third = await resume(url, session, supports);
    await third.handled();
    expect(third.outcomes()).toEqual([]);
  });

  it('a client that cannot resume frees its slots when it disconnects', async () => {
    const { app, each, url } = await startHeld({ 'scheduler.max_concurrent_jobs_per_node': 1 });
    const leaver = await openSession({ url }, { supports: null });
    for (const seq of [1, 2, 3, 4]) leaver.send(spoken(leaver, seq));
    await each.job(4);
    const waiter = await openSession({ url });
    waiter.send(spoken(waiter, 9));
    await waiter.next('utterance_accepted');
    expect(waiter.uiEvents(0)).not.toContain('DISPATCHED');
    leaver.cut();
    await eventually(() => each.cancelled.length === 4);
    expect(audioOf(await each.job(5))).toEqual([9]);
    each.finish(5);
    expect((await waiter.outcome()).type).toBe('translation_result');
    await eventually(async () => (await app.nodes())[0]?.used_slots === 0);
    expect(await figure(app, 'scheduler_audio_store_bytes')).toBe(0);
    expect(app.app.sessions.counts().sessions).toBe(2);
  });
});

describe('an instance at its limit of sessions', () => {
  it('a kept session can be resumed at the limit', async () => {
    const { each, url, session, gone } = await startHeld({ 'session.max_sessions': 1 });
    session.send(spoken(session, 1));
    await each.job();
    session.cut();
    await gone();
    const again = await resume(url, session);
    expect(again.frames[0]).toMatchObject({ resumed: true });
  });
});
