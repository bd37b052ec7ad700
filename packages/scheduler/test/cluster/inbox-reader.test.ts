/** Letters that arrive are handled once each, whatever fails on the way. */
import { describe, expect, it } from 'vitest';
import { createInbox } from '../../src/adapters/memory/inbox.ts';
import { createInboxReader } from '../../src/cluster/inbox-reader.ts';
import type { Inbox } from '../../src/ports/inbox.ts';
import { createManualClock } from '../support/manual-clock.ts';

const SETTINGS = { maxLetters: 10, waitMs: 1_000, scanIntervalMs: 5_000, idleMs: 5_000, watchdogMs: 3_000 };
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

async function startReader(
  handle: (body: string) => Promise<void>,
  wrap: (inbox: Inbox) => Inbox = (inbox) => inbox,
) {
  const clock = createManualClock();
  const inbox = createInbox({ clock, maxLetters: 100, maxDeliveries: 3, maxDead: 10 });
  await inbox.open('me');
  const counts = new Map<string, number>();
  const seen: string[] = [];
  let stuck = 0;
  const reader = createInboxReader({
    instanceId: 'me',
    inbox: wrap(inbox),
    clock,
    log: QUIET,
    meter: {
      count: (name, _labels, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
      gauge() {},
      observe() {},
    },
    settings: SETTINGS,
    handle: async (body) => {
      seen.push(body);
      await handle(body);
    },
    stuck: () => {
      stuck += 1;
    },
  });
  reader.start();
  await clock.advance(0);
  return { clock, inbox, reader, seen, counts, stuck: () => stuck };
}

const fine = async (): Promise<void> => {};

describe('the reader of an inbox', () => {
  it('has letters handled in the order they came, and leaves nothing behind', async () => {
    const { clock, inbox, seen } = await startReader(fine);
    for (const body of ['a', 'b', 'c']) await inbox.send('me', body);
    await clock.advance(10);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(await inbox.size('me')).toEqual({ letters: 0, handedOut: 0, dead: 0 });
  });

  it('handles one letter at a time', async () => {
    let atOnce = 0;
    let most = 0;
    const { clock, inbox } = await startReader(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise<void>((resolve) => clock.after(50, resolve));
      atOnce -= 1;
    });
    for (let index = 0; index < 15; index++) await inbox.send('me', String(index));
    await clock.advance(5_000);
    expect(most).toBe(1);
  });

  it('tries a letter again that failed, without holding up the others', async () => {
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
    expect(await inbox.size('me')).toEqual({ letters: 0, handedOut: 0, dead: 0 });
  });

  it('puts a letter aside that always fails, and counts it', async () => {
    const { clock, inbox, seen, counts } = await startReader(async () => {
      throw new Error('never');
    });
    await inbox.send('me', 'poison');
    await clock.advance(10 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['poison', 'poison', 'poison']);
    expect(counts.get('scheduler_dead_letters_total')).toBe(1);
    expect(await inbox.size('me')).toEqual({ letters: 0, handedOut: 0, dead: 1 });
  });

  it('handles a letter once although its confirmation was lost', async () => {
    let losses = 1;
    const { clock, inbox, seen } = await startReader(fine, (inner) => ({
      ...inner,
      confirm: (...args) => (losses-- > 0 ? Promise.reject(new Error('lost')) : inner.confirm(...args)),
    }));
    await inbox.send('me', 'once');
    await clock.advance(3 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['once']);
    expect(await inbox.size('me')).toEqual({ letters: 0, handedOut: 0, dead: 0 });
  });

  it('goes on reading after the store was away', async () => {
    let faults = 3;
    const { clock, inbox, seen } = await startReader(fine, (inner) => ({
      ...inner,
      take: (...args) => (faults-- > 0 ? Promise.reject(new Error('away')) : inner.take(...args)),
    }));
    await inbox.send('me', 'waited');
    await clock.advance(2_000);
    expect(seen).toEqual(['waited']);
  });

  it('replaces a read that never comes back', async () => {
    let hangs = 1;
    const { clock, inbox, seen, counts, stuck } = await startReader(fine, (inner) => ({
      ...inner,
      take: (...args) => (hangs-- > 0 ? new Promise(() => {}) : inner.take(...args)),
    }));
    await inbox.send('me', 'behind a dead read');
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['behind a dead read']);
    expect(stuck()).toBe(1);
    expect(counts.get('scheduler_inbox_reader_restarts_total')).toBe(1);
  });

  it('does not read twice at a time when a read that was given up comes back after all', async () => {
    const held: (() => void)[] = [];
    let reads = 0;
    let most = 0;
    let hangs = 1;
    const { clock } = await startReader(fine, (inner) => ({
      ...inner,
      async take(...args) {
        if (hangs-- > 0) await new Promise<void>((resolve) => held.push(resolve));
        reads += 1;
        most = Math.max(most, reads);
        const letters = await inner.take(...args);
        reads -= 1;
        return letters;
      },
    }));
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    for (const release of held) release();
    await clock.advance(5 * SETTINGS.waitMs);
    most = 0;
    await clock.advance(5 * SETTINGS.waitMs);
    expect(most).toBe(1);
  });

  it('is not taken for stuck while a letter takes long to handle', async () => {
    const { clock, inbox, stuck } = await startReader(
      () => new Promise<void>((resolve) => clock.after(20_000, resolve)),
    );
    await inbox.send('me', 'slow');
    await clock.advance(15_000);
    expect(stuck()).toBe(0);
  });

  it('stops after the letter at hand', async () => {
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
    expect(await inbox.size('me')).toEqual({ letters: 0, handedOut: 0, dead: 0 });
  });
});
