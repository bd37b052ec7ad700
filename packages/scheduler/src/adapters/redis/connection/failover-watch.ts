/** Background actor: detects that a master may have lost writes, because it was replaced or restarted, and that the store answers again. */
import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';
import { addressOfServer, fieldsOf, isForbidden, mastersOf, SLOTS, slotOf } from './servers.ts';

export interface MasterEvents {
  /** Recent writes to these keys may be lost, so instances write their state again. */
  changed(isAffected: (key: string) => boolean): void;
  /** A part of the store did not answer for a while, and now every master answers. */
  returned(): void;
}

export interface MastersWatch {
  /** Every master answered its last check. */
  isWell(): boolean;
  close(): void;
}

export interface MastersWatchSettings {
  /** How often connections and hash slots are checked; it costs no command. */
  readonly checkMs?: number;
  /** How often the run id of every master is read. */
  readonly readMs?: number;
}

const CHECK_MS = 250;
const READ_MS = 1_000;

/** A master at its last answer: its process, and the connection. */
interface SeenMaster {
  readonly runId: unknown;
  readonly stream: unknown;
  readAt: number;
}

export function watchMasters(
  connection: RedisConnection,
  events: MasterEvents,
  { checkMs = CHECK_MS, readMs = READ_MS }: MastersWatchSettings = {},
): MastersWatch {
  /** Hash slot → last known address of its master. Empty without a Cluster. */
  const masters: string[] = [];
  const lastSeen = new Map<string, SeenMaster>();
  const unresponsive = new Set<string>();
  const reading = new Set<Redis>();
  let wasDown = false;
  let isClosed = false;

  /** Records the master of each hash slot, and returns all masters. */
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

  /** Undefined: there is no connection to this master. */
  function serversByAddress(): ReadonlyMap<string, Redis | undefined> {
    if (!(connection instanceof Cluster)) return new Map([[SINGLE_SERVER, connection]]);
    const connected = new Map(mastersOf(connection).map((server) => [addressOfServer(server), server]));
    return new Map([...compareSlots(connection.slots)].map((address) => [address, connected.get(address)]));
  }

  const isServedBy =
    (address: string) =>
    (key: string): boolean =>
      !(connection instanceof Cluster) || masters[slotOf(key)] === address;

  async function readRunId(server: Redis, address: string): Promise<void> {
    reading.add(server);
    try {
      const runId = await runIdOf(server);
      if (isClosed) return;
      const before = lastSeen.get(address);
      lastSeen.set(address, { runId, stream: server.stream, readAt: performance.now() });
      unresponsive.delete(address);
      if (before !== undefined && before.runId !== runId) events.changed(isServedBy(address));
    } catch {
      unresponsive.add(address);
    } finally {
      reading.delete(server);
    }
  }

  function checkAll(): void {
    const servers = serversByAddress();
    for (const known of [lastSeen, unresponsive]) {
      for (const address of known.keys()) if (!servers.has(address)) known.delete(address);
    }
    // Before it is ready, no other code may open its connections: a Cluster sends its first command to one of them, and fails if that one is being opened.
    const isReady = connection.status === 'ready';
    for (const [address, server] of servers) {
      if (!isReady || server === undefined || !isOpen(server)) unresponsive.add(address);
      else check(server, address);
    }
    noteReturn(servers.size > 0);
  }

  function check(server: Redis, address: string): void {
    if (reading.has(server)) return;
    const before = lastSeen.get(address);
    // However short the interruption was, commands in between have failed.
    if (before !== undefined && before.stream !== server.stream) unresponsive.add(address);
    const isDue = before === undefined || performance.now() - before.readAt >= readMs;
    if (isDue || unresponsive.has(address)) void readRunId(server, address);
  }

  function noteReturn(isKnown: boolean): void {
    if (!isKnown || connection.status !== 'ready' || unresponsive.size > 0) {
      wasDown = true;
    } else if (wasDown && reading.size === 0) {
      wasDown = false;
      events.returned();
    }
  }

  // At once when the slots are read again or the connection is made: the sooner, the fewer writes miss the new master.
  connection.on('refresh', checkAll);
  connection.on('ready', checkAll);
  const timer = setInterval(checkAll, checkMs);
  timer.unref();
  checkAll();
  // At the start the store does not count as down.
  wasDown = false;

  return {
    isWell: () => !wasDown,
    close() {
      isClosed = true;
      clearInterval(timer);
      connection.off('refresh', checkAll);
      connection.off('ready', checkAll);
    },
  };
}

/** Behind Sentinels the address changes with the master, but it is the same store. */
const SINGLE_SERVER = 'it';

/** Connections of a Cluster open with their first command. */
const isOpen = ({ status }: Redis): boolean => status === 'ready' || status === 'wait';

/** New with every start of the process. If the user may not read it, every new connection counts as a new process. */
async function runIdOf(server: Redis): Promise<unknown> {
  try {
    return fieldsOf(await server.info('server')).get('run_id') ?? server.stream;
  } catch (fault) {
    if (isForbidden(fault)) return server.stream;
    throw fault;
  }
}
