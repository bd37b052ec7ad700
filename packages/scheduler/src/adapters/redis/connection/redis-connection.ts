/** One connection to Redis or Valkey — single, behind Sentinels, or a Cluster — with the discipline that keeps a sick server from stalling the rest. */
import { Cluster, Redis } from 'ioredis';
import { writeTogether } from './batch-writes.ts';
import { breakWhenSilent } from './breaker.ts';
import { type CommandCounts, countCommands } from './command-counts.ts';
import type { TlsParts } from './tls-files.ts';

export interface RedisSettings {
  readonly mode: 'single' | 'sentinel' | 'cluster';
  readonly url: string;
  readonly clusterUrls: readonly string[];
  readonly sentinelUrls: readonly string[];
  readonly sentinelName: string;
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly db: number;
  readonly isTls: boolean;
  /** Certificates and key, where not the system's are to be used. */
  readonly tls?: TlsParts | undefined;
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly socketTimeoutMs: number;
  readonly slotsRefreshIntervalMs: number;
}

export type RedisConnection = Redis | Cluster;

/** A reader that blocks waits longer than a command may take, and one that listens can do nothing else: neither shares its connection. */
export interface ConnectionRole {
  readonly name: string;
  readonly isBlocking?: boolean;
  /** How long a read on a blocking one waits at most: what takes longer has failed, and so has the opening of a connection. */
  readonly longestWaitMs?: number;
  readonly isListening?: boolean;
}

const SLOWEST_RECONNECT_MS = 500;
const LOOK_WHEN_LOST_MS = 250;
/** One try elsewhere after a failover; more would outlast the command's own timeout. */
const RETRIES = 1;

export function connectRedis(
  settings: RedisSettings,
  role: ConnectionRole,
  counts?: CommandCounts,
): RedisConnection {
  const connection = open(settings, role);
  // Whoever asks is told by the answer. An error event that nobody hears would end the process.
  connection.on('error', () => undefined);
  if (role.isBlocking !== true && role.isListening !== true) {
    breakWhenSilent(connection, counts);
    writeTogether(connection);
  } else if (counts !== undefined) countCommands(connection, counts);
  return connection;
}

function open(settings: RedisSettings, role: ConnectionRole): RedisConnection {
  if (settings.mode === 'cluster') {
    const cluster = new Cluster(clusterNodes(settings), clusterOptions(settings, role));
    lookForLostMasters(cluster);
    return cluster;
  }
  const { host, port } = addressOf(settings.url);
  const options = {
    ...commonOptions(settings, role),
    db: settings.db,
    retryStrategy: reconnectAfter,
    // A command that cannot be sent now fails now: whoever asked must not wait for a server that may never return.
    enableOfflineQueue: false,
  };
  if (settings.mode === 'single') return new Redis({ ...options, host, port });
  return new Redis({
    ...options,
    sentinels: settings.sentinelUrls.map(addressOf),
    name: settings.sentinelName,
    // Of the servers behind them; of the Sentinels the other one.
    enableTLSForSentinelMode: isTls(settings),
    ...(isTls(settings) && { sentinelTLS: tlsOf(settings) }),
    ...(settings.sentinelUsername !== undefined && { sentinelUsername: settings.sentinelUsername }),
    ...(settings.sentinelPassword !== undefined && { sentinelPassword: settings.sentinelPassword }),
    sentinelRetryStrategy: reconnectAfter,
    // From the try to connect to the answer. Then the next one is asked: a frozen Sentinel would be waited for without end.
    sentinelCommandTimeout: settings.commandTimeoutMs,
  });
}

/** Ends it for good. A Cluster that is just looking at its slots would go on to do so for ever, and keep the process alive. */
export function closeRedis(connection: RedisConnection): void {
  if (connection instanceof Cluster) connection.refreshSlotsCache = () => undefined;
  for (const server of connection instanceof Cluster ? connection.nodes() : [connection]) {
    // Closed in the middle of a handshake with a server that is not to be trusted, a socket has two faults to tell, and the
    // library listens to one. The other would end the process.
    server.stream?.on('error', () => undefined);
  }
  connection.disconnect();
}

/** Resolves when commands can be sent to every master that is well. Rejects, saying why, if that takes too long or is of no use. */
export async function whenReady(connection: RedisConnection, limitMs: number): Promise<void> {
  let giveUp: NodeJS.Timeout | undefined;
  let note: (fault: Error) => void = () => undefined;
  const tooLate = new Promise<never>((_, reject) => {
    let last: Error | undefined;
    giveUp = setTimeout(() => {
      const why = last === undefined ? 'nothing answers' : reasonOf(last);
      reject(new Error(`Redis was not reached within ${limitMs} ms: ${why}`));
    }, limitMs);
    note = (fault) => {
      last = fault;
      if (isTurnedAway(fault)) reject(new Error(`${TURNED_AWAY}: ${reasonOf(fault)}`));
    };
  });
  connection.on('error', note);
  connection.on('node error', note);
  try {
    await Promise.race([reach(connection), tooLate]);
  } finally {
    clearTimeout(giveUp);
    connection.off('error', note);
    connection.off('node error', note);
  }
}

/** Of a Cluster, what the last of its servers said. */
const reasonOf = (fault: Error): string =>
  ((fault as { lastNodeError?: Error }).lastNodeError ?? fault).message || String(fault);

const TURNED_AWAY =
  'Redis does not let this user in; check scheduler.phase2.redis.username and scheduler.phase2.redis.password';

/** Trying again does not help. */
const isTurnedAway = (fault: Error): boolean =>
  /^(WRONGPASS|NOAUTH|NOPERM|ERR (invalid password|AUTH|Client sent AUTH))/i.test(reasonOf(fault));

async function reach(connection: RedisConnection): Promise<void> {
  if (connection.status !== 'ready') await new Promise<void>((resolve) => connection.once('ready', resolve));
  if (!(connection instanceof Cluster)) return;
  // Their connections open with the first command, and all others until then would fail.
  await Promise.allSettled(connection.nodes('master').map((master) => master.ping()));
}

function commonOptions(settings: RedisSettings, role: ConnectionRole) {
  const { username, password } = credentialsOf(settings);
  return {
    connectionName: role.name,
    connectTimeout: settings.connectTimeoutMs,
    maxRetriesPerRequest: RETRIES,
    // In a Cluster it puts scripts of different slots into one pipeline after a slot has moved.
    enableAutoPipelining: false,
    // A connection that was lost with a command under way leaves it open whether it ran; asking twice is the caller's choice.
    autoResendUnfulfilledCommands: false,
    ...timeouts(settings, role),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(isTls(settings) && { tls: tlsOf(settings) }),
  };
}

function timeouts(settings: RedisSettings, { isBlocking = false, longestWaitMs }: ConnectionRole) {
  // Nobody knows how long its reads wait.
  if (isBlocking && longestWaitMs === undefined) return {};
  const waitMs = isBlocking ? (longestWaitMs ?? 0) : 0;
  return {
    commandTimeout: waitMs + settings.commandTimeoutMs,
    socketTimeout: waitMs + settings.socketTimeoutMs,
  };
}

function clusterOptions(settings: RedisSettings, role: ConnectionRole) {
  return {
    redisOptions: commonOptions(settings, role),
    enableAutoPipelining: false,
    enableOfflineQueue: false,
    slotsRefreshInterval: settings.slotsRefreshIntervalMs,
    // The next server is asked then: half the time, so that a frozen one delays the news of its successor less.
    slotsRefreshTimeout: Math.ceil(settings.commandTimeoutMs / 2),
    clusterRetryStrategy: reconnectAfter,
    // A lost connection fails its commands at once, as on a single server. Asked again behind the caller's back, they would take
    // longer than their timeout, since each try waits for a look at the slots first, and take effect after they were given up.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 20,
    scaleReads: 'master' as const,
    // Channels that live in a slot are heard from its own master.
    shardedSubscribers: role.isListening === true,
  };
}

/** When a master is lost its successor is looked for often, and not only when it is time to look at the slots anyway. */
function lookForLostMasters(cluster: Cluster): void {
  const isLost = ({ status }: Redis): boolean => status !== 'ready' && status !== 'wait';
  const watch = setInterval(() => {
    if (cluster.status === 'ready' && cluster.nodes('master').some(isLost)) cluster.refreshSlotsCache();
  }, LOOK_WHEN_LOST_MS);
  watch.unref();
  cluster.once('end', () => clearInterval(watch));
}

const clusterNodes = ({ clusterUrls, url }: RedisSettings) =>
  (clusterUrls.length > 0 ? clusterUrls : [url]).map(addressOf);

const reconnectAfter = (times: number): number => Math.min(SLOWEST_RECONNECT_MS, 20 * times);

const DEFAULT_PORT = 6379;

function addressOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  // The brackets of an IPv6 address belong to the URL, not to the host.
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? DEFAULT_PORT : Number(port),
  };
}

function credentialsOf(settings: RedisSettings): {
  username: string | undefined;
  password: string | undefined;
} {
  const inAddress = new URL(
    settings.mode === 'cluster' ? (settings.clusterUrls[0] ?? settings.url) : settings.url,
  );
  const decoded = (part: string): string | undefined => (part === '' ? undefined : decodeURIComponent(part));
  return {
    username: settings.username ?? decoded(inAddress.username),
    password: settings.password ?? decoded(inAddress.password),
  };
}

/** All or nothing: where one address is not to be read by others, neither is what is said to those it leads to. */
const isTls = ({ isTls, url, clusterUrls, sentinelUrls }: RedisSettings): boolean =>
  isTls || [url, ...clusterUrls, ...sentinelUrls].some((address) => address.startsWith('rediss:'));

const tlsOf = ({ tls }: RedisSettings): TlsParts => tls ?? {};
