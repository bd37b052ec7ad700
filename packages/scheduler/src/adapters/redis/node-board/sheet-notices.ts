/**
 * Notices between instances that sheets of nodes have changed: sent once per turn of the event loop for all that changed in it, on
 * a few channels that everybody listens to. They may be lost; whoever listens also looks for himself now and then.
 */
import type { NodeId } from '../../../domain/ids.ts';
import type { SheetVersion } from '../../../ports/node-board.ts';
import { type Keys, NOTICE_PARTS } from '../keys.ts';
import { partOf } from '../node-directory/node-count.ts';
import type { RedisConnection } from '../redis-connection.ts';

export interface SheetNotices {
  /** From its end on notices are heard. */
  listen(): Promise<void>;
  send(notice: SheetVersion): void;
  close(): Promise<void>;
}

type Line = readonly [nodeId: NodeId, generation: number, version: number];

/** Of one message; the rest goes into the next. */
const MOST_PER_MESSAGE = 500;

/** `ear`: a connection that only listens. It may be shared with others that do. */
export function createSheetNotices(deps: {
  connection: RedisConnection;
  ear: RedisConnection;
  keys: Keys;
  onNotices: (notices: readonly SheetVersion[]) => void;
}): SheetNotices {
  const { connection, ear } = deps;
  const channels = Array.from({ length: NOTICE_PARTS }, (_, part) => deps.keys.nodeNotices(part));
  const untold = new Map<NodeId, Line>();
  /** A server before sharded channels has only those that every server hears. */
  let isSharded = true;
  let listening: Promise<void> | undefined;

  const hear = (channel: string, message: string): void => {
    if (channels.includes(channel)) deps.onNotices(noticesOf(message));
  };

  /** Sharded if the server has it. */
  async function eitherWay(sharded: () => Promise<unknown>, plain: () => Promise<unknown>): Promise<void> {
    if (isSharded) {
      try {
        await sharded();
        return;
      } catch (fault) {
        if (!isUnknownCommand(fault)) throw fault;
        isSharded = false;
      }
    }
    await plain();
  }

  function sendAll(): void {
    const parts = channels.map((): Line[] => []);
    for (const line of untold.values()) parts[partOf(line[0]) % NOTICE_PARTS]?.push(line);
    untold.clear();
    for (const [part, lines] of parts.entries()) {
      for (let from = 0; from < lines.length; from += MOST_PER_MESSAGE) {
        publish(channels[part] as string, JSON.stringify(lines.slice(from, from + MOST_PER_MESSAGE)));
      }
    }
  }

  function publish(channel: string, message: string): void {
    // A lost notice is made up for by looking.
    eitherWay(
      () => connection.spublish(channel, message),
      () => connection.publish(channel, message),
    ).catch(() => undefined);
  }

  async function subscribe(): Promise<void> {
    ear.on('smessage', hear);
    ear.on('message', hear);
    // One by one: in a Cluster they live in different slots.
    const subscribed = channels.map((channel) =>
      eitherWay(
        () => ear.ssubscribe(channel),
        () => ear.subscribe(channel),
      ),
    );
    await Promise.all(subscribed);
  }

  async function close(): Promise<void> {
    ear.off('smessage', hear);
    ear.off('message', hear);
    listening = undefined;
    // If this is not heard, notices nobody listens to are the worst of it.
    await Promise.allSettled(
      channels.map((channel) => (isSharded ? ear.sunsubscribe(channel) : ear.unsubscribe(channel))),
    );
  }

  return {
    listen() {
      listening ??= subscribe().catch(async (fault: unknown) => {
        await close();
        throw fault;
      });
      return listening;
    },

    send({ nodeId, generation, version }) {
      if (untold.size === 0) setImmediate(sendAll);
      untold.set(nodeId, [nodeId, generation, version]);
    },

    async close() {
      if (listening !== undefined) await close();
    },
  };
}

/** What cannot be read was not meant for us. */
function noticesOf(message: string): readonly SheetVersion[] {
  try {
    const lines = JSON.parse(message) as readonly Line[];
    return lines.map(([nodeId, generation, version]) => ({ nodeId, generation, version }));
  } catch {
    return [];
  }
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
