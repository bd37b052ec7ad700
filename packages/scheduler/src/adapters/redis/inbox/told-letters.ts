/**
 * Hears letters that send-letters.lua tells. Only sharded channels carry them: on a server that has none, nobody is ever told.
 *
 * A connection may be dead without anybody knowing, and letters told into it come again seconds later. So whoever listens says something
 * to itself now and then; if it does not hear that, it subscribes anew, and the client replaces the connection that does not answer.
 */
import type { Clock } from '../../../ports/clock.ts';
import type { Letter } from '../../../ports/inbox.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';

type Hear = (letters: readonly Letter[]) => void;

interface Listener {
  hear: Hear;
  /** Since the last time it said something to itself. */
  hasHeard: boolean;
}

/** Less than it takes to give up a job whose acknowledgement is not heard. */
const CHECK_MS = 2_000;
/** Says nothing: it is only heard. */
const NOTHING = '';

export function createToldLetters(deps: {
  connection: RedisConnection;
  ear: RedisConnection;
  keys: Keys;
  clock: Clock;
}): (instanceId: string, hear: Hear) => Promise<() => Promise<void>> {
  const { connection, ear, keys, clock } = deps;
  /** By channel. They stay: one that could not be ended may still be told something. */
  const listeners = new Map<string, Listener>();

  ear.on('smessage', (channel: string, told: string) => {
    const listener = listeners.get(channel);
    if (listener === undefined) return;
    listener.hasHeard = true;
    if (told !== NOTHING) listener.hear([letterOf(told)]);
  });

  async function subscribeAnew(channel: string): Promise<void> {
    await ear.sunsubscribe(channel).catch(() => undefined);
    await ear.ssubscribe(channel).catch(() => undefined);
  }

  return async (instanceId, hear) => {
    const channel = keys.instanceLetters(instanceId);
    const listener = { hear, hasHeard: true };
    listeners.set(channel, listener);
    try {
      await ear.ssubscribe(channel);
    } catch (fault) {
      if (isUnknownCommand(fault)) return async () => undefined;
      throw fault;
    }
    let isStopped = false;
    let wasSaid = false;

    async function check(): Promise<void> {
      if (wasSaid && !listener.hasHeard) await subscribeAnew(channel);
      listener.hasHeard = false;
      // A store that cannot be asked says nothing about the ear.
      wasSaid = await connection.spublish(channel, NOTHING).then(
        () => true,
        () => false,
      );
      if (!isStopped) checkLater();
    }
    function checkLater(): void {
      cancel = clock.after(CHECK_MS, () => void check());
    }
    let cancel = (): void => undefined;
    checkLater();

    return async () => {
      isStopped = true;
      cancel();
      await ear.sunsubscribe(channel).catch(() => undefined);
    };
  };
}

function letterOf(told: string): Letter {
  const end = told.indexOf(' ');
  return { letterId: told.slice(0, end), body: told.slice(end + 1), deliveries: 1 };
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
