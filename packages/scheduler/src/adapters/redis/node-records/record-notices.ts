/**
 * Notices between instances that node records of nodes have changed: sent once per turn of the event loop for all that changed in it, on
 * a few channels that everybody listens to. They may be lost; whoever listens also looks for himself now and then.
 */
import type { NodeId } from '../../../domain/ids.ts';
import type { RecordVersion } from '../../../ports/node-records.ts';
import { createChannels, type Ear } from '../connection/channels.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { type Keys, NOTICE_PARTS } from '../keys.ts';
import { partOf } from '../node-id-claims/node-count.ts';

export interface RecordNotices {
  /** From its end on notices are heard. */
  listen(): Promise<void>;
  send(notice: RecordVersion): void;
  close(): Promise<void>;
}

type Line = readonly [nodeId: NodeId, generation: number, version: number];

/** Of one message; the rest goes into the next. */
const MOST_PER_MESSAGE = 500;

export function createRecordNotices(deps: {
  connection: RedisConnection;
  /** Only listens. */
  ear: RedisConnection;
  keys: Keys;
  onNotices: (notices: readonly RecordVersion[]) => void;
}): RecordNotices {
  const channels = createChannels(deps);
  const parts = Array.from({ length: NOTICE_PARTS }, (_, part) => deps.keys.nodeNotices(part));
  const untold = new Map<NodeId, Line>();
  let listening: Promise<Ear> | undefined;

  function sendAll(): void {
    const lines = parts.map((): Line[] => []);
    for (const line of untold.values()) lines[partOf(line[0]) % NOTICE_PARTS]?.push(line);
    untold.clear();
    for (const [part, some] of lines.entries()) {
      for (let from = 0; from < some.length; from += MOST_PER_MESSAGE) {
        const text = JSON.stringify(some.slice(from, from + MOST_PER_MESSAGE));
        // A lost notice is made up for by looking.
        channels.publish(parts[part] as string, text).catch(() => undefined);
      }
    }
  }

  return {
    async listen() {
      listening ??= channels
        .subscribe(parts, (_, text) => deps.onNotices(noticesOf(text)))
        .catch((fault: unknown) => {
          listening = undefined;
          throw fault;
        });
      await listening;
    },

    send({ nodeId, generation, version }) {
      if (untold.size === 0) setImmediate(sendAll);
      untold.set(nodeId, [nodeId, generation, version]);
    },

    async close() {
      const ear = listening;
      listening = undefined;
      await (await ear?.catch(() => undefined))?.close();
    },
  };
}

/** What cannot be read was not meant for us. */
function noticesOf(message: string): readonly RecordVersion[] {
  try {
    const lines = JSON.parse(message) as readonly Line[];
    return lines.map(([nodeId, generation, version]) => ({ nodeId, generation, version }));
  } catch {
    return [];
  }
}
