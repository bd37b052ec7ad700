/** Notices that an instance has put an entry into a mailbox. They are empty and may be lost: a waiting take also reads periodically. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import type { Keys } from '../keys.ts';

export interface ArrivalListener {
  /** The subscription is active; earlier notices may have been missed. */
  onSubscribed(): void;
  /** The subscription failed. */
  onFailed(): void;
  onArrival(): void;
}

export interface Arrivals {
  /** One listener per node. A second call subscribes again and replaces the listener. */
  subscribe(nodeId: NodeId, listener: ArrivalListener): () => void;
}

/** `subscriber`: a connection used for subscriptions only. */
export function createArrivals(deps: { subscriber: RedisConnection; keys: Keys }): Arrivals {
  const { subscriber, keys } = deps;
  const listeners = new Map<string, ArrivalListener>();
  // An older server has no sharded channels; put-entry.lua falls back in the same way.
  let isSharded = true;

  const receive = (channel: string): void => listeners.get(channel)?.onArrival();
  subscriber.on('smessage', receive);
  subscriber.on('message', receive);

  async function subscribeTo(channel: string): Promise<void> {
    if (isSharded) {
      try {
        await subscriber.ssubscribe(channel);
        return;
      } catch (fault) {
        if (!isUnknownCommand(fault)) throw fault;
        isSharded = false;
      }
    }
    await subscriber.subscribe(channel);
  }

  async function unsubscribeFrom(channel: string): Promise<void> {
    await (isSharded ? subscriber.sunsubscribe(channel) : subscriber.unsubscribe(channel));
  }

  return {
    subscribe(nodeId, listener) {
      const channel = keys.nodeArrivals(nodeId);
      listeners.set(channel, listener);
      subscribeTo(channel).then(
        () => listener.onSubscribed(),
        // Until the next try the listener finds arrivals by its periodic reads.
        () => listener.onFailed(),
      );
      return () => {
        if (listeners.get(channel) !== listener) return;
        listeners.delete(channel);
        // If this fails, notices without a listener arrive and are ignored.
        unsubscribeFrom(channel).catch(() => undefined);
      };
    },
  };
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
