/**
 * Notices between instances that node records have changed: sent once per turn of the event loop for all its changes, on a few channels
 * to which every instance subscribes. They may be lost; instances also read the records periodically.
 */
import type { NodeId } from '../../../domain/ids.ts';
import type { RecordVersion } from '../../../ports/node-records.ts';
import { createChannels, type Subscription } from '../connection/channels.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { type Keys, NOTICE_PARTS } from '../keys.ts';
import { partOf } from '../node-id-claims/node-count.ts';

export interface RecordNotices {
  /** Resolves when the subscription is active. */
  subscribe(): Promise<void>;
  send(notice: RecordVersion): void;
  close(): Promise<void>;
}

type Line = readonly [nodeId: NodeId, generation: number, version: number];

/** Notices per message; the rest goes into the next one. */
const MOST_PER_MESSAGE = 500;

export function createRecordNotices(deps: {
  connection: RedisConnection;
  /** For subscriptions only. */
  subscriber: RedisConnection;
  keys: Keys;
  onNotices: (notices: readonly RecordVersion[]) => void;
}): RecordNotices {
  const channels = createChannels(deps);
  const parts = Array.from({ length: NOTICE_PARTS }, (_, part) => deps.keys.nodeNotices(part));
  const unsent = new Map<NodeId, Line>();
  let subscription: Promise<Subscription> | undefined;

  function sendAll(): void {
    const lines = parts.map((): Line[] => []);
    for (const line of unsent.values()) lines[partOf(line[0]) % NOTICE_PARTS]?.push(line);
    unsent.clear();
    for (const [part, some] of lines.entries()) {
      for (let from = 0; from < some.length; from += MOST_PER_MESSAGE) {
        const text = JSON.stringify(some.slice(from, from + MOST_PER_MESSAGE));
        // A lost notice is made up for by the periodic read.
        channels.publish(parts[part] as string, text).catch(() => undefined);
      }
    }
  }

  return {
    async subscribe() {
      subscription ??= channels
        .subscribe(parts, (_, text) => deps.onNotices(noticesOf(text)))
        .catch((fault: unknown) => {
          subscription = undefined;
          throw fault;
        });
      await subscription;
    },

    send({ nodeId, generation, version }) {
      if (unsent.size === 0) setImmediate(sendAll);
      unsent.set(nodeId, [nodeId, generation, version]);
    },

    async close() {
      const last = subscription;
      subscription = undefined;
      await (await last?.catch(() => undefined))?.close();
    },
  };
}

/** A message that cannot be parsed is ignored. */
function noticesOf(message: string): readonly RecordVersion[] {
  try {
    const lines = JSON.parse(message) as readonly Line[];
    return lines.map(([nodeId, generation, version]) => ({ nodeId, generation, version }));
  } catch {
    return [];
  }
}
