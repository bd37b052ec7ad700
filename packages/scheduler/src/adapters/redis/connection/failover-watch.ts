/** Background actor: notices when a master may have lost writes, because another took its place or it came back, and when the store answers again. */
import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';
import { addressOfServer, fieldsOf, isForbidden, mastersOf, SLOTS, slotOf } from './servers.ts';

export interface MasterEvents {
  /** What was written to these keys lately may be lost: whoever holds state writes it again. */
  changed(isAffected: (key: string) => boolean): void;
  /** Some of the store did not answer for a while, and all of it does now. */
  returned(): void;
}

export interface MastersWatch {
  /** Every master answered when last asked. */
  isWell(): boolean;
  close(): void;
}

export interface MastersWatchSettings {
  /** How often connections and slots are looked at; costs no command. */
  readonly lookMs?: number;
  /** How often every master is asked who it is. */
  readonly askMs?: number;
}

const LOOK_MS = 250;
const ASK_MS = 1_000;

/** A master as last met: which process, and over which connection it said so. */
interface Met {
  readonly runId: unknown;
  readonly stream: unknown;
  askedAt: number;
}

export function watchMasters(
  connection: RedisConnection,
  events: MasterEvents,
  { lookMs = LOOK_MS, askMs = ASK_MS }: MastersWatchSettings = {},
): MastersWatch {
  /** Slot → address of its master, the last one known. Empty unless it is a Cluster. */
  const masters: string[] = [];
  const met = new Map<string, Met>();
  const silent = new Set<string>();
  const asking = new Set<Redis>();
  let wasAway = false;
  let isClosed = false;

  /** Notes who serves each slot, and answers who serves any. */
  function compareSlots(slots: readonly (readonly string[])[]): ReadonlySet<string> {
    const changed = new Uint8Array(SLOTS);
    let count = 0;
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const address = slots[slot]?.[0];
      const before = masters[slot];
      if (address === undefined || address === before) continue;
      masters[slot] = address;
      if (before === undefined) continue;
      changed[slot] = 1;
      count += 1;
    }
    if (count > 0) events.changed((key) => changed[slotOf(key)] === 1);
    return new Set(masters);
  }

  /** Undefined: it should be there, and there is no connection to it. */
  function serversByAddress(): ReadonlyMap<string, Redis | undefined> {
    if (!(connection instanceof Cluster)) return new Map([[THE_ONLY_ONE, connection]]);
    const connected = new Map(mastersOf(connection).map((server) => [addressOfServer(server), server]));
    return new Map([...compareSlots(connection.slots)].map((address) => [address, connected.get(address)]));
  }

  const isServedBy =
    (address: string) =>
    (key: string): boolean =>
      !(connection instanceof Cluster) || masters[slotOf(key)] === address;

  async function ask(server: Redis, address: string): Promise<void> {
    asking.add(server);
    try {
      const runId = await runIdOf(server);
      if (isClosed) return;
      const before = met.get(address);
      met.set(address, { runId, stream: server.stream, askedAt: performance.now() });
      silent.delete(address);
      if (before !== undefined && before.runId !== runId) events.changed(isServedBy(address));
    } catch {
      silent.add(address);
    } finally {
      asking.delete(server);
    }
  }

  function look(): void {
    const servers = serversByAddress();
    for (const known of [met, silent]) {
      for (const address of known.keys()) if (!servers.has(address)) known.delete(address);
    }
    // Before, nobody else may open its connections: to be ready, a Cluster asks one of them, and gives up if it is being opened.
    const isReady = connection.status === 'ready';
    for (const [address, server] of servers) {
      if (!isReady || server === undefined || !isOpen(server)) silent.add(address);
      else lookAt(server, address);
    }
    noteReturn(servers.size > 0);
  }

  function lookAt(server: Redis, address: string): void {
    if (asking.has(server)) return;
    const before = met.get(address);
    // However short it was away: what was asked meanwhile has failed.
    if (before !== undefined && before.stream !== server.stream) silent.add(address);
    const isDue = before === undefined || performance.now() - before.askedAt >= askMs;
    if (isDue || silent.has(address)) void ask(server, address);
  }

  function noteReturn(isKnown: boolean): void {
    if (!isKnown || connection.status !== 'ready' || silent.size > 0) {
      wasAway = true;
    } else if (wasAway && asking.size === 0) {
      wasAway = false;
      events.returned();
    }
  }

  // At once when the map of the Cluster is read anew, or the connection is made: the sooner, the less is written past it.
  connection.on('refresh', look);
  connection.on('ready', look);
  const timer = setInterval(look, lookMs);
  timer.unref();
  look();
  // Not away: it has only just begun to look.
  wasAway = false;

  return {
    isWell: () => !wasAway,
    close() {
      isClosed = true;
      clearInterval(timer);
      connection.off('refresh', look);
      connection.off('ready', look);
    },
  };
}

/** Behind Sentinels the address changes with the master, and it is one and the same store all the same. */
const THE_ONLY_ONE = 'it';

/** Connections of a Cluster open with their first command. */
const isOpen = ({ status }: Redis): boolean => status === 'ready' || status === 'wait';

/** New with every start of the process. Where that may not be seen, every new connection counts as a new process. */
async function runIdOf(server: Redis): Promise<unknown> {
  try {
    return fieldsOf(await server.info('server')).get('run_id') ?? server.stream;
  } catch (fault) {
    if (isForbidden(fault)) return server.stream;
    throw fault;
  }
}
