/** A mailbox on a fake server that counts the commands, can lose notices and can answer late. Stepped by a manual clock. */

import type { RedisConnection } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { scriptNameOf } from '../../../../src/adapters/redis/connection/script.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { createNodeMailbox } from '../../../../src/adapters/redis/node-mailbox.ts';
import { leaseId } from '../../../../src/domain/lease.ts';
import type { MailboxEntry } from '../../../../src/ports/node-mailbox.ts';
import { fresh } from '../../../contracts/harness.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

type Receive = (channel: string) => void;

const LONG_MS = 600_000;

export function startMailbox() {
  const clock = createManualClock();
  const keys = createKeys('test');
  const queues = new Map<string, { job: string; body: string }[]>();
  const subscribed = new Set<string>();
  const commands: string[] = [];
  const receives: Receive[] = [];
  const state = { notifies: true, canSubscribe: true, answerMs: 0 };

  /** The script runs at once; its answer may take a while. */
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
      commands.push(script);
      if (script === 'put-entry') {
        entries.push({ job, body });
        if (state.notifies && subscribed.has(arrivals)) for (const receive of receives) receive(arrivals);
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
    on: (event: string, receive: Receive) => void (event === 'smessage' && receives.push(receive)),
    async ssubscribe(channel: string) {
      commands.push('ssubscribe');
      if (!state.canSubscribe) throw new Error('not now');
      subscribed.add(channel);
    },
    async sunsubscribe(channel: string) {
      commands.push('sunsubscribe');
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
    /** Commands since the last call of this function. */
    commands: () => commands.splice(0),
    isListening: (node: string) => subscribed.has(keys.nodeArrivals(node)),
    /** Number of entries in the mailbox. */
    lying: (node: string) => queues.get(keys.nodeMailbox(node))?.length ?? 0,
  };
}
