/** One connection to Redis or Valkey (single, behind Sentinels, or a Cluster), with limits so that a slow server does not stall the rest. */
import { Cluster, Redis } from 'ioredis';
import { batchWrites } from './batch-writes.ts';
import { breakWhenUnresponsive } from './breaker.ts';
import { type CommandCounts, countCommands } from './command-counts.ts';

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
  /** Certificates and key, if not those of the system. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly socketTimeoutMs: number;
  readonly slotsRefreshIntervalMs: number;
}

export type RedisConnection = Redis | Cluster;

/** A blocking read waits longer than a command may take, and a subscribed connection can send no other command: both need a connection of their own. */
export interface ConnectionRole {
  readonly name: string;
  readonly isBlocking?: boolean;
  /** The longest wait of a blocking read: a read or a connection attempt that takes longer has failed. */
  readonly longestWaitMs?: number;
  readonly isListening?: boolean;
}

const SLOWEST_RECONNECT_MS = 500;
const LOOK_WHEN_LOST_MS = 250;
/** One more try after a failover; further tries would exceed the command's own timeout. */
const RETRIES = 1;

export function connectRedis(
  settings: RedisSettings,
  role: ConnectionRole,
  counts?: CommandCounts,
): RedisConnection {
  const connection = open(settings, role);
  // Callers get the fault from their command. Without a handler an error event would end the process.
  connection.on('error', () => undefined);
  if (role.isBlocking !== true && role.isListening !== true) {
    breakWhenUnresponsive(connection, counts);
    batchWrites(connection);
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
    // A command that cannot be sent now fails now: its caller must not wait for a server that may never return.
    enableOfflineQueue: false,
  };
  if (settings.mode === 'single') return new Redis({ ...options, host, port });
  return new Redis({
    ...options,
    sentinels: settings.sentinelUrls.map(addressOf),
    name: settings.sentinelName,
    // For the servers behind the Sentinels; `sentinelTLS` is for the Sentinels.
    enableTLSForSentinelMode: isTls(settings),
    ...(isTls(settings) && { sentinelTLS: tlsOf(settings) }),
    ...(settings.sentinelUsername !== undefined && { sentinelUsername: settings.sentinelUsername }),
    ...(settings.sentinelPassword !== undefined && { sentinelPassword: settings.sentinelPassword }),
    sentinelRetryStrategy: reconnectAfter,
    // From the connection attempt to the answer; then the next Sentinel is used. Without it a frozen Sentinel would block for ever.
    sentinelCommandTimeout: settings.commandTimeoutMs,
  });
}

/** Closes the connection. A Cluster that is refreshing its slots would otherwise continue for ever and keep the process alive. */
export function closeRedis(connection: RedisConnection): void {
  if (connection instanceof Cluster) connection.refreshSlotsCache = () => undefined;
  for (const server of connection instanceof Cluster ? connection.nodes() : [connection]) {
    // A socket that is closed during the handshake with an untrusted server emits two errors, and the library handles one of
    // them. The other would end the process.
    server.stream?.on('error', () => undefined);
  }
  connection.disconnect();
}

/** Resolves when commands can be sent to every master that works. Rejects with the reason if that takes too long or can never succeed. */
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
      if (isRefused(fault)) reject(new Error(`${ACCESS_REFUSED}: ${reasonOf(fault)}`));
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

/** For a Cluster, the fault of its last server. */
const reasonOf = (fault: Error): string =>
  ((fault as { lastNodeError?: Error }).lastNodeError ?? fault).message || String(fault);

const ACCESS_REFUSED =
  'Redis does not let this user in; check scheduler.cluster.redis.username and scheduler.cluster.redis.password';

/** Another try would fail in the same way. */
const isRefused = (fault: Error): boolean =>
  /^(WRONGPASS|NOAUTH|NOPERM|ERR (invalid password|AUTH|Client sent AUTH))/i.test(reasonOf(fault));

async function reach(connection: RedisConnection): Promise<void> {
  if (connection.status !== 'ready') await new Promise<void>((resolve) => connection.once('ready', resolve));
  if (!(connection instanceof Cluster)) return;
  // Connections of a Cluster open with their first command; until then other commands would fail.
  await Promise.allSettled(connection.nodes('master').map((master) => master.ping()));
}

function commonOptions(settings: RedisSettings, role: ConnectionRole) {
  const { username, password } = credentialsOf(settings);
  return {
    connectionName: role.name,
    connectTimeout: settings.connectTimeoutMs,
    maxRetriesPerRequest: RETRIES,
    // In a Cluster it would put scripts of different hash slots into one pipeline after a slot has moved.
    enableAutoPipelining: false,
    // If the connection is lost during a command, it is unknown whether the command ran; repeating it is the caller's decision.
    autoResendUnfulfilledCommands: false,
    ...timeouts(settings, role),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(isTls(settings) && { tls: tlsOf(settings) }),
  };
}

function timeouts(settings: RedisSettings, { isBlocking = false, longestWaitMs }: ConnectionRole) {
  // The longest wait of its reads is unknown.
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
    // After this the next server is used. Half of the command timeout, so that a frozen server delays the failover less.
    slotsRefreshTimeout: Math.ceil(settings.commandTimeoutMs / 2),
    clusterRetryStrategy: reconnectAfter,
    // A lost connection fails its commands at once, as on a single server. With retries by the library they would take longer than
    // their timeout, because each try waits for a refresh of the slots, and take effect after the caller has stopped waiting.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 20,
    scaleReads: 'master' as const,
    // Sharded channels need a subscription at the master of their hash slot.
    shardedSubscribers: role.isListening === true,
  };
}

/** While a master is lost, the slots are refreshed often, to find its successor before the next regular refresh. */
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

/** All or none: if one address uses TLS, every connection does, also to servers that are only discovered. */
const isTls = ({ isTls, url, clusterUrls, sentinelUrls }: RedisSettings): boolean =>
  isTls || [url, ...clusterUrls, ...sentinelUrls].some((address) => address.startsWith('rediss:'));

const tlsOf = ({ tls = {} }: RedisSettings) => tls;
