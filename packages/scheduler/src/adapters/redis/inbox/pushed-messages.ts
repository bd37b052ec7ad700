/**
 * Hears messages that send-messages.lua tells, on a sharded channel or, where one server before those is all there is, on a plain one. In a
 * Cluster a plain one would be told to every server, and the script cannot know who listens elsewhere: there nobody is ever told.
 *
 * A connection may be dead without anybody knowing, and messages told into it come again seconds later. So whoever listens says something
 * to itself now and then, with its round or, should none come, by itself; if it does not hear that, it subscribes anew, and the client
 * replaces the connection that does not answer.
 */
import { Cluster } from 'ioredis';
import type { Clock } from '../../../ports/clock.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import type { Keys } from '../keys.ts';

type Hear = (messages: readonly InboxMessage[]) => void;

interface Listener {
  hear: Hear;
  /** Since the last time it said something to itself. */
  hasHeard: boolean;
}

interface Way {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  say(channel: string): Promise<unknown>;
}

/** Not more than it takes to give up a job whose acknowledgement is not heard, and long enough for a round to come before. */
const ALONE_MS = 3_000;
/** Says nothing: it is only heard. */
const NOTHING = '';

export function createPushedMessages(deps: {
  connection: RedisConnection;
  ear: RedisConnection;
  keys: Keys;
  clock: Clock;
}): (instanceId: string, hear: Hear) => Promise<() => Promise<void>> {
  const { connection, ear, keys, clock } = deps;
  /** By channel. They stay: one that could not be ended may still be told something. */
  const listeners = new Map<string, Listener>();

  function heard(channel: string, told: string): void {
    const listener = listeners.get(channel);
    if (listener === undefined) return;
    listener.hasHeard = true;
    if (told !== NOTHING) listener.hear([messageOf(told)]);
  }
  ear.on('smessage', heard);
  ear.on('message', heard);

  const sharded: Way = {
    subscribe: (channel) => ear.ssubscribe(channel),
    unsubscribe: (channel) => ear.sunsubscribe(channel),
    say: (channel) => connection.spublish(channel, NOTHING),
  };
  const plain: Way = {
    subscribe: (channel) => ear.subscribe(channel),
    unsubscribe: (channel) => ear.unsubscribe(channel),
    say: (channel) => connection.publish(channel, NOTHING),
  };

  /** Undefined: nobody can be told. */
  async function subscribe(channel: string): Promise<Way | undefined> {
    try {
      await sharded.subscribe(channel);
      return sharded;
    } catch (fault) {
      if (!isUnknownCommand(fault)) throw fault;
    }
    if (ear instanceof Cluster) return undefined;
    await plain.subscribe(channel);
    return plain;
  }

  return async (instanceId, hear) => {
    const channel = keys.instanceMessages(instanceId);
    const listener = { hear, hasHeard: true };
    listeners.set(channel, listener);
    const way = await subscribe(channel);
    if (way === undefined) return async () => undefined;
    const { subscribe: again, unsubscribe, say } = way;
    let isStopped = false;
    let wasSaid = false;
    let renewing: Promise<unknown> | undefined;
    let cancel = (): void => undefined;

    // A store that cannot be asked says nothing about the ear.
    const said = (isSaid: boolean): void => {
      wasSaid = isSaid;
    };

    /** True if something is to be said now. Who has not heard what was said before listens anew first. */
    function mayTalk(): boolean {
      if (isStopped || renewing !== undefined) return false;
      const isDeaf = wasSaid && !listener.hasHeard;
      said(false);
      listener.hasHeard = false;
      if (isDeaf) renewing = listenAnew().finally(() => (renewing = undefined));
      return !isDeaf;
    }

    async function listenAnew(): Promise<void> {
      await unsubscribe(channel).catch(() => undefined);
      await again(channel).catch(() => undefined);
    }

    async function talkAlone(): Promise<void> {
      if (mayTalk()) {
        await say(channel).then(
          () => said(true),
          () => said(false),
        );
      }
      if (!isStopped) talkLater();
    }
    function talkLater(): void {
      cancel();
      cancel = clock.after(ALONE_MS, () => void talkAlone());
    }
    talkLater();

    return async () => {
      isStopped = true;
      cancel();
      await unsubscribe(channel).catch(() => undefined);
    };
  };
}

function messageOf(told: string): InboxMessage {
  const end = told.indexOf(' ');
  return { messageId: told.slice(0, end), body: told.slice(end + 1), deliveries: 1 };
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
