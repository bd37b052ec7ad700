/** A mailbox on a server of its own making, which says how often it was asked, may lose its notices and be slow to answer. Stepped by a manual clock. */

import type { RedisConnection } from '../../../src/adapters/redis/connection/redis-connection.ts';
import { scriptNameOf } from '../../../src/adapters/redis/connection/script.ts';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { createNodeMailbox } from '../../../src/adapters/redis/node-mailbox.ts';
import { leaseId } from '../../../src/domain/lease.ts';
import type { MailboxEntry } from '../../../src/ports/node-mailbox.ts';
import { fresh } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';

type Hear = (channel: string) => void;

const LONG_MS = 600_000;

export function startMailbox() {
  const clock = createManualClock();
  const keys = createKeys('test');
  const queues = new Map<string, { job: string; body: string }[]>();
  const subscribed = new Set<string>();
  const asked: string[] = [];
  const hears: Hear[] = [];
  const state = { isTelling: true, canSubscribe: true, answerMs: 0 };

  /** The script runs when it comes; its answer may take a while. */
  async function answered<T>(reply: T): Promise<T> {
    if (state.answerMs > 0) await new Promise<void>((resolve) => void clock.after(state.answerMs, resolve));
    return reply;
  }

  const connection = {
    async evalsha(digest: string, count: number, ...words: readonly string[]) {
      const [script, queue, arrivals] = [scriptNameOf(digest), words[0] ?? '', words[2] ?? ''];
      const [job = '', body = ''] = words.slice(count);
      const entries = queues.get(queue) ?? [];
      queues.set(queue, entries);
      asked.push(script);
      if (script === 'put-entry') {
        entries.push({ job, body });
        if (state.isTelling && subscribed.has(arrivals)) for (const hear of hears) hear(arrivals);
        return ['queued'];
      }
      const taken = entries.splice(0, Number(job));
      return answered(['taken', ...taken.flatMap((each) => [each.job, '1', each.body])]);
    },
    async unlink(queue: string) {
      queues.delete(queue);
    },
  } as unknown as RedisConnection;
  const subscriber = {
    on: (event: string, hear: Hear) => void (event === 'smessage' && hears.push(hear)),
    async ssubscribe(channel: string) {
      asked.push('ssubscribe');
      if (!state.canSubscribe) throw new Error('not now');
      subscribed.add(channel);
    },
    async sunsubscribe(channel: string) {
      asked.push('sunsubscribe');
      subscribed.delete(channel);
    },
  } as unknown as RedisConnection;
  const mailbox = createNodeMailbox<string>({ connection, subscriber, keys, clock, maxPerNode: 100 });

  return {
    clock,
    mailbox,
    state,
    entry(): MailboxEntry<string> {
      const jobId = fresh('job');
      const slot = { lease: leaseId(jobId, 1), ttlMs: LONG_MS };
      return { jobId, expiresAt: clock.now() + LONG_MS, body: 'hello', slot };
    },
    /** What was asked since the last call of this. */
    asked: () => asked.splice(0),
    isListening: (node: string) => subscribed.has(keys.nodeArrivals(node)),
    /** How many entries lie there. */
    lying: (node: string) => queues.get(keys.nodeMailbox(node))?.length ?? 0,
  };
}
