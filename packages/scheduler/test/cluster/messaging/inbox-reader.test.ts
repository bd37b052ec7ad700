/** Every message that arrives is handled once, with any fault in between. */
import { describe, expect, it } from 'vitest';
import { INBOX_IDLE_MS } from '../../../src/ports/inbox.ts';
import { fine, SETTINGS, startReader } from './inbox-reader-rig.ts';

describe('the inbox reader', () => {
  it('handles messages in their order and empties the inbox', async () => {
    const { clock, inbox, seen } = await startReader(fine);
    for (const body of ['a', 'b', 'c']) await inbox.send('me', body);
    await clock.advance(10);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 0 });
  });

  it('retries a failed message without delaying others', async () => {
    let failures = 1;
    const { clock, inbox, seen, counts } = await startReader(async (body) => {
      if (body === 'bad' && failures-- > 0) throw new Error('not now');
    });
    for (const body of ['bad', 'good']) await inbox.send('me', body);
    await clock.advance(100);
    expect(seen).toEqual(['bad', 'good']);
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['bad', 'good', 'bad']);
    expect(counts.get('scheduler_inbox_failures_total')).toBe(1);
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 0 });
  });

  it('moves a message that always fails to the dead letters', async () => {
    const { clock, inbox, seen, counts } = await startReader(async () => {
      throw new Error('never');
    });
    await inbox.send('me', 'poison');
    await clock.advance(10 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['poison', 'poison', 'poison']);
    expect(counts.get('scheduler_phase2_dlq_moved_total')).toBe(1);
    expect(counts.get('scheduler_phase2_reclaimed_total')).toBe(2);
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 1 });
  });

  it('handles a message once although its acknowledgement was lost', async () => {
    let losses = 1;
    const { clock, inbox, seen } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        ack: (...args) => (losses-- > 0 ? Promise.reject(new Error('lost')) : inner.ack(...args)),
      }),
    });
    await inbox.send('me', 'once');
    await clock.advance(3 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['once']);
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 0 });
  });

  it('continues after an outage of Redis', async () => {
    let faults = 3;
    const { clock, inbox, seen } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        take: (...args) => (faults-- > 0 ? Promise.reject(new Error('away')) : inner.take(...args)),
      }),
    });
    await inbox.send('me', 'waited');
    await clock.advance(2_000);
    expect(seen).toEqual(['waited']);
  });

  it('replaces a read that never returns', async () => {
    let hangs = 1;
    const { clock, inbox, seen, counts, stuck } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        take: (...args) => (hangs-- > 0 ? new Promise(() => {}) : inner.take(...args)),
      }),
    });
    await inbox.send('me', 'behind a dead read');
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['behind a dead read']);
    expect(stuck()).toBe(1);
    expect(counts.get('scheduler_inbox_reader_restarts_total')).toBe(1);
  });

  it('requests new connections until a read succeeds', async () => {
    let isAway = true;
    const { clock, send, seen, stuck } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        take: (...args) => (isAway ? Promise.reject(new Error('not open')) : inner.take(...args)),
      }),
    });
    await clock.advance(3 * SETTINGS.watchdogMs + 100);
    expect(stuck()).toBe(3);
    isAway = false;
    await clock.advance(10 * SETTINGS.watchdogMs);
    expect(stuck()).toBe(3);
    await send('a:1');
    await clock.advance(10);
    expect(seen).toEqual(['a:1']);
  });

  it('is not stuck while it is fenced', async () => {
    const { clock, stuck } = await startReader(fine, { isFenced: () => true });
    await clock.advance(10 * SETTINGS.watchdogMs);
    expect(stuck()).toBe(0);
  });

  it('runs one read at a time when an abandoned read returns', async () => {
    const held: (() => void)[] = [];
    let reads = 0;
    let most = 0;
    let hangs = 1;
    const { clock } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        async take(...args) {
          if (hangs-- > 0) await new Promise<void>((resolve) => held.push(resolve));
          reads += 1;
          most = Math.max(most, reads);
          const messages = await inner.take(...args);
          reads -= 1;
          return messages;
        },
      }),
    });
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    for (const release of held) release();
    await clock.advance(5 * SETTINGS.waitMs);
    most = 0;
    await clock.advance(5 * SETTINGS.waitMs);
    expect(most).toBe(1);
  });

  it('is not stuck while a handler takes long', async () => {
    const { clock, inbox, stuck } = await startReader(
      () => new Promise<void>((resolve) => clock.after(20_000, resolve)),
    );
    await inbox.send('me', 'slow');
    await clock.advance(15_000);
    expect(stuck()).toBe(0);
  });

  it('reopens an inbox that Redis has lost', async () => {
    let isGone = true;
    let takes = 0;
    const { clock, send, seen, isEmpty } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        async open(instanceId) {
          isGone = false;
          await inner.open(instanceId);
        },
        async take(...args) {
          takes += 1;
          return isGone ? [] : inner.take(...args);
        },
      }),
    });
    await clock.advance(100);
    expect(isGone).toBe(false);
    expect(takes).toBe(1);
    await clock.advance(SETTINGS.waitMs);
    await send('a:1');
    await clock.advance(10);
    expect(seen).toEqual(['a:1']);
    expect(await isEmpty()).toBe(true);
    isGone = true;
    await clock.advance(10_000);
    expect(isGone).toBe(false);
    expect(takes).toBeLessThan(20);
  });

  it('reads and handles nothing while fenced, and loses no message', async () => {
    let isFenced = true;
    const { clock, send, seen, isEmpty } = await startReader(fine, { isFenced: () => isFenced });
    await send('a:1', 'a:2');
    await clock.advance(20_000);
    expect(seen).toEqual([]);
    isFenced = false;
    await clock.advance(1_000);
    expect(seen).toEqual(['a:1', 'a:2']);
    expect(await isEmpty()).toBe(true);
  });

  it('defers messages that wait in a lane when it is fenced', async () => {
    let isFenced = false;
    const { clock, send, seen, counts, isEmpty } = await startReader(
      async (body) => {
        if (body === 'a:1') await new Promise<void>((resolve) => clock.after(1_000, resolve));
      },
      { isFenced: () => isFenced },
    );
    await send('a:1', 'a:2');
    isFenced = true;
    await clock.advance(20_000);
    expect(seen).toEqual(['a:1']);
    isFenced = false;
    await clock.advance(20_000);
    expect(seen).toEqual(['a:1', 'a:2']);
    expect(counts.get('scheduler_inbox_failures_total')).toBeUndefined();
    expect(await isEmpty()).toBe(true);
  });

  it('logs one warning per outage', async () => {
    let isAway = true;
    const { clock, warnings } = await startReader(fine, {
      wrap: (inner) => ({
        ...inner,
        take: (...args) => (isAway ? Promise.reject(new Error('away')) : inner.take(...args)),
      }),
    });
    await clock.advance(10_000);
    expect(warnings).toHaveLength(1);
    isAway = false;
    await clock.advance(2_000);
    isAway = true;
    await clock.advance(2_000);
    expect(warnings).toHaveLength(2);
  });

  it('stops after the message being handled', async () => {
    let isDone = false;
    const { clock, inbox, reader } = await startReader(async () => {
      await new Promise<void>((resolve) => clock.after(100, resolve));
      isDone = true;
    });
    await inbox.send('me', 'last');
    await clock.advance(10);
    const stopping = reader.stop();
    await clock.advance(200);
    await stopping;
    expect(isDone).toBe(true);
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 0 });
  });

  it('handles no message that is read after the stop', async () => {
    const { clock, inbox, reader, seen, send } = await startReader(fine);
    await reader.stop();
    await send('a:1');
    await clock.advance(20_000);
    expect(seen).toEqual([]);
    expect((await inbox.size('me')).messages).toBe(1);
  });

  it('stops although a handler takes too long', async () => {
    const { clock, reader, send } = await startReader(() => new Promise(() => {}), {
      settings: { stopMs: 700 },
    });
    await send('a:1');
    let isStopped = false;
    void reader.stop().then(() => {
      isStopped = true;
    });
    await clock.advance(699);
    expect(isStopped).toBe(false);
    await clock.advance(2);
    expect(isStopped).toBe(true);
  });
});

describe('an inbox that would end by itself', () => {
  const RARELY = { waitMs: 60_000, scanIntervalMs: 60_000, watchdogMs: 120_000 };

  it('keeps its messages while its reader lives', async () => {
    const { clock, inbox } = await startReader(() => new Promise(() => {}), { settings: RARELY });
    await inbox.send('me', 'under way');
    await clock.advance(2 * INBOX_IDLE_MS);
    expect((await inbox.size('me')).messages).toBe(1);
  });

  it('is not kept alive by a fenced reader', async () => {
    const { clock, inbox } = await startReader(fine, { settings: RARELY, isFenced: () => true });
    await clock.advance(INBOX_IDLE_MS);
    expect(await inbox.send('me', 'too late')).toBe('gone');
  });
});
