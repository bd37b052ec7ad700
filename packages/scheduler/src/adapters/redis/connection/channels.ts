/** Pub/sub channels, sharded if the server supports it. Messages may be lost. */
import type { RedisConnection } from './redis-connection.ts';

export interface Channels {
  publish(channel: string, text: string): Promise<void>;
  /** Resolves when the subscription is active; it lasts until `close`. */
  subscribe(
    channels: readonly string[],
    receive: (channel: string, text: string) => void,
  ): Promise<Subscription>;
}

export interface Subscription {
  close(): Promise<void>;
}

/** `subscriber`: a connection used for subscriptions only. All subscriptions may share it. */
export function createChannels(deps: { connection: RedisConnection; subscriber: RedisConnection }): Channels {
  const { connection, subscriber } = deps;
  /** An older server has no sharded channels, only channels of the whole Cluster. */
  let isSharded = true;
  /** Subscribers per channel: the first one subscribes the connection, the last one unsubscribes it. */
  const listeners = new Map<string, number>();

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

  function count(channel: string, by: 1 | -1): number {
    const left = (listeners.get(channel) ?? 0) + by;
    if (left === 0) listeners.delete(channel);
    else listeners.set(channel, left);
    return left;
  }

  async function stop(channels: readonly string[], listen: (channel: string, text: string) => void) {
    subscriber.off('smessage', listen);
    subscriber.off('message', listen);
    const unused = channels.filter((channel) => count(channel, -1) === 0);
    // If this fails, messages without a subscriber arrive and are ignored.
    await Promise.allSettled(
      unused.map((channel) =>
        isSharded ? subscriber.sunsubscribe(channel) : subscriber.unsubscribe(channel),
      ),
    );
  }

  return {
    publish: (channel, text) =>
      eitherWay(
        () => connection.spublish(channel, text),
        () => connection.publish(channel, text),
      ),

    async subscribe(channels, receive) {
      const listen = (channel: string, text: string): void => {
        if (channels.includes(channel)) receive(channel, text);
      };
      subscriber.on('smessage', listen);
      subscriber.on('message', listen);
      for (const channel of channels) count(channel, 1);
      try {
        // One by one: in a Cluster the channels are in different hash slots.
        await Promise.all(
          channels.map((channel) =>
            eitherWay(
              () => subscriber.ssubscribe(channel),
              () => subscriber.subscribe(channel),
            ),
          ),
        );
      } catch (fault) {
        await stop(channels, listen);
        throw fault;
      }
      return { close: () => stop(channels, listen) };
    },
  };
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
