/** Contract of NodeMailbox: takes that wait, what ends them, and what races with them. */
import { expect, it } from 'vitest';
import type { MailboxEntry } from '../../src/ports/node-mailbox.ts';
import { edgeOf, fresh, holdsBefore, isPending, times } from './harness.ts';
import { type InboxMessage, ids, NOW, type StartedMailbox } from './node-mailbox.ts';

export function nodeMailboxWaits(start: () => Promise<StartedMailbox>): void {
  it('wakes a waiting take when an entry arrives', async () => {
    const { mailbox, node, write, advance } = await start();
    const waiting = mailbox.take(node, { max: 5, waitMs: 10_000 });
    await advance(20);
    expect(await isPending(waiting)).toBe(true);
    const entry = await write();
    expect(await mailbox.put(node, entry)).toBe('queued');
    expect(await waiting).toEqual([entry]);
    expect(await mailbox.take(node, NOW)).toEqual([]);
  });

  it('does not wake a waiting take for another node', async () => {
    const harness = await start();
    const { mailbox, node, write, advance } = harness;
    const other = fresh('node');
    const elsewhere = await write(60_000, other);
    const begunAt = performance.now();
    const waiting = mailbox.take(node, { max: 5, waitMs: 250 });
    await advance(20);
    await mailbox.put(other, elsewhere);
    await holdsBefore(harness, begunAt, 250, async () => expect(await isPending(waiting)).toBe(true));
    await advance(250);
    expect(await waiting).toEqual([]);
  });

  it('gives each arrival to one of several waiting takes', async () => {
    const { mailbox, node, write, advance } = await start();
    const waiting = times(3, () => mailbox.take(node, { max: 1, waitMs: 10_000 }));
    await advance(20);
    const entries = await Promise.all(times(3, () => write()));
    await mailbox.put(node, entries[0] as MailboxEntry<InboxMessage>);
    expect(await Promise.race(waiting)).toEqual([entries[0]]);
    await advance(50);
    const open = await Promise.all(waiting.map(isPending));
    expect(open.filter(Boolean)).toHaveLength(2);
    for (const entry of entries.slice(1)) await mailbox.put(node, entry);
    expect(ids((await Promise.all(waiting)).flat()).sort()).toEqual(ids(entries).sort());
  });

  it('ends a waiting take at its limit, which takes nothing later', async () => {
    const harness = await start();
    const { mailbox, node, write, advance } = harness;
    const begunAt = performance.now();
    const waiting = mailbox.take(node, { max: 5, waitMs: 300 });
    await advance(300 - edgeOf(harness));
    await holdsBefore(harness, begunAt, 300, async () => expect(await isPending(waiting)).toBe(true));
    await advance(edgeOf(harness));
    expect(await waiting).toEqual([]);
    const entry = await write();
    await mailbox.put(node, entry);
    expect(await mailbox.take(node, NOW)).toEqual([entry]);
  });

  it('ends a waiting take when aborted, which takes nothing later', async () => {
    const { mailbox, node, write, advance } = await start();
    const abort = new AbortController();
    const waiting = mailbox.take(node, { max: 5, waitMs: 10_000, signal: abort.signal });
    await advance(20);
    abort.abort();
    expect(await waiting).toEqual([]);
    const entry = await write();
    await mailbox.put(node, entry);
    expect(await mailbox.take(node, NOW)).toEqual([entry]);
  });

  it('takes nothing for a caller that aborted before', async () => {
    const { mailbox, node, write } = await start();
    const signal = AbortSignal.abort();
    expect(await mailbox.take(node, { max: 5, waitMs: 10_000, signal })).toEqual([]);
    const entry = await write();
    await mailbox.put(node, entry);
    expect(await mailbox.take(node, { max: 5, waitMs: 0, signal })).toEqual([]);
    expect(await mailbox.take(node, NOW)).toEqual([entry]);
  });

  it('loses and repeats nothing when an arrival and an abort race', async () => {
    const { mailbox, node, write, advance } = await start();
    for (const isPutFirst of [true, false]) {
      const abort = new AbortController();
      const waiting = mailbox.take(node, { max: 5, waitMs: 10_000, signal: abort.signal });
      await advance(20);
      const entry = await write();
      if (!isPutFirst) abort.abort();
      const put = mailbox.put(node, entry);
      if (isPutFirst) abort.abort();
      await put;
      const got = [...(await waiting), ...(await mailbox.take(node, NOW))];
      expect(got).toEqual([entry]);
    }
  });

  it('wakes the next take when the woken one is aborted', async () => {
    const { mailbox, node, write, advance } = await start();
    const abort = new AbortController();
    const first = mailbox.take(node, { max: 1, waitMs: 10_000, signal: abort.signal });
    await advance(20);
    const second = mailbox.take(node, { max: 1, waitMs: 10_000 });
    await advance(20);
    const entry = await write();
    const put = mailbox.put(node, entry);
    abort.abort();
    await put;
    const got = await first;
    await advance(200);
    expect(await isPending(second)).toBe(got.length > 0);
    if (got.length === 0) expect(await second).toEqual([entry]);
  });

  it.each(['take', 'drop', 'forget'] as const)(
    'wakes a take for the next arrival after a quicker %s',
    async (thief) => {
      const { mailbox, node, write, advance } = await start();
      const waiting = mailbox.take(node, { max: 1, waitMs: 10_000 });
      await advance(20);
      const stolen = await write();
      const put = mailbox.put(node, stolen);
      if (thief === 'take') await Promise.all([put, mailbox.take(node, NOW)]);
      else if (thief === 'drop') await Promise.all([put, mailbox.drop(node, stolen.jobId)]);
      else await Promise.all([put, mailbox.forget(node)]);
      const next = await write();
      await mailbox.put(node, next);
      await advance(200);
      expect(await isPending(waiting)).toBe(false);
      expect([stolen.jobId, next.jobId]).toContain(ids(await waiting)[0]);
    },
  );

  it('keeps entries that are put after a forget', async () => {
    const { mailbox, node, write, advance } = await start();
    const waiting = mailbox.take(node, { max: 5, waitMs: 250 });
    await advance(20);
    await mailbox.forget(node);
    const entry = await write();
    await mailbox.put(node, entry);
    const later = await mailbox.take(node, NOW);
    await advance(250);
    expect([...(await waiting), ...later]).toEqual([entry]);
  });
}
