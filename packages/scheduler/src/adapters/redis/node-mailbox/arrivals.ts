/** Notices that something was put into a mailbox, by any instance. They carry nothing and may be lost: whoever listens looks for himself now and then. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import type { Keys } from '../keys.ts';

export interface ArrivalListener {
  /** From here on notices are heard; what came before may have been missed. */
  onListening(): void;
  /** Notices cannot be heard. */
  onDeaf(): void;
  onArrival(): void;
}

export interface Arrivals {
  /** One listener per node. Again: the subscription is made anew, and the former listener hears nothing more. */
  listen(nodeId: NodeId, listener: ArrivalListener): () => void;
}

/** `ear`: a connection of its own, since one that listens can do nothing else. */
export function createArrivals(deps: { ear: RedisConnection; keys: Keys }): Arrivals {
  const { ear, keys } = deps;
  const listeners = new Map<string, ArrivalListener>();
  // A server before sharded channels tells everybody; put-entry.lua falls back in the same way.
  let isSharded = true;

  const hear = (channel: string): void => listeners.get(channel)?.onArrival();
  ear.on('smessage', hear);
  ear.on('message', hear);

  async function subscribe(channel: string): Promise<void> {
    if (isSharded) {
      try {
        await ear.ssubscribe(channel);
        return;
      } catch (fault) {
        if (!isUnknownCommand(fault)) throw fault;
        isSharded = false;
      }
    }
    await ear.subscribe(channel);
  }

  async function unsubscribe(channel: string): Promise<void> {
    await (isSharded ? ear.sunsubscribe(channel) : ear.unsubscribe(channel));
  }

  return {
    listen(nodeId, listener) {
      const channel = keys.nodeArrivals(nodeId);
      listeners.set(channel, listener);
      subscribe(channel).then(
        () => listener.onListening(),
        // For now: the listener finds arrivals by looking, and subscribes anew another time.
        () => listener.onDeaf(),
      );
      return () => {
        if (listeners.get(channel) !== listener) return;
        listeners.delete(channel);
        // If this is not heard, notices nobody waits for are the worst of it.
        unsubscribe(channel).catch(() => undefined);
      };
    },
  };
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
