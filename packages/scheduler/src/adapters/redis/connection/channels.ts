/** Channels of pub/sub, sharded where the server has that. What is said on them may be lost. */
import type { RedisConnection } from './redis-connection.ts';

export interface Channels {
  publish(channel: string, text: string): Promise<void>;
  /** From its end on everything said is heard, until `unsubscribe`. */
  subscribe(channels: readonly string[], hear: (channel: string, text: string) => void): Promise<Ear>;
}

export interface Ear {
  close(): Promise<void>;
}

/** `ear`: a connection that only listens. It may be shared by all that do. */
export function createChannels(deps: { connection: RedisConnection; ear: RedisConnection }): Channels {
  const { connection, ear } = deps;
  /** A server before sharded channels has only those that every server hears. */
  let isSharded = true;
  /** How many listen to each: the first subscribes, the last ends it. */
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
    ear.off('smessage', listen);
    ear.off('message', listen);
    const silent = channels.filter((channel) => count(channel, -1) === 0);
    // If this is not heard, words nobody listens to are the worst of it.
    await Promise.allSettled(
      silent.map((channel) => (isSharded ? ear.sunsubscribe(channel) : ear.unsubscribe(channel))),
    );
  }

  return {
    publish: (channel, text) =>
      eitherWay(
        () => connection.spublish(channel, text),
        () => connection.publish(channel, text),
      ),

    async subscribe(channels, hear) {
      const listen = (channel: string, text: string): void => {
        if (channels.includes(channel)) hear(channel, text);
      };
      ear.on('smessage', listen);
      ear.on('message', listen);
      for (const channel of channels) count(channel, 1);
      try {
        // One by one: in a Cluster they live in different slots.
        await Promise.all(
          channels.map((channel) =>
            eitherWay(
              () => ear.ssubscribe(channel),
              () => ear.subscribe(channel),
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
