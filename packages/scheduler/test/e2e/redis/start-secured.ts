/** Redis over TLS with client certificates and passwords: behind a Sentinel, or as a Cluster. Real processes, which end with the test. */
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { asArguments, type Certified, tlsFlags } from '../../support/certify.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type RedisServer,
  type RedisUnderTest,
  settingsFor,
  startRedis,
} from '../../support/redis-servers.ts';
import { freePort } from './free-port.ts';
import { launchSentinel, masterPortOf, whenWatching } from './start-sentinel.ts';

const HOST = '127.0.0.1';
const SLOTS = 16_384;
/** How replicas and Sentinels authenticate. */
const KEEPER = { username: 'keeper', password: 'kept' };
export const USER = { username: 'lingua', password: 'secret' };
export const WATCHER = { username: 'watcher', password: 'seen' };

interface Secured {
  readonly server: RedisServer;
  readonly tlsPort: number;
  /** The plain-text port for administration. */
  readonly admin: Redis;
}

export interface SecuredSentinel extends RedisUnderTest {
  readonly master: Secured;
  readonly replica: Secured;
  /** As the Sentinel reports. */
  masterPort(): Promise<number>;
}

export async function startSecured(by: Certified, flags: readonly string[] = []): Promise<Secured> {
  const tlsPort = await portWithBus();
  const redis = await startRedis([
    ...asArguments(tlsFlags(tlsPort, by, { asksClients: true })),
    ...['--tls-replication', 'yes', '--masteruser', KEEPER.username, '--masterauth', KEEPER.password],
    ...flags,
  ]);
  onTestFinished(() => redis.stop());
  const anybody = new Redis(redis.settings.url);
  for (const { username, password } of [KEEPER, USER]) {
    await anybody.call('ACL', 'SETUSER', username, 'on', `>${password}`, '~*', '&*', '+@all');
  }
  await anybody.call('ACL', 'SETUSER', 'default', 'off');
  anybody.disconnect();
  // A Sentinel closes all connections to a server whose role it changes.
  const admin = new Redis(redis.settings.url, { ...KEEPER, maxRetriesPerRequest: null });
  admin.on('error', () => {});
  onTestFinished(() => admin.disconnect());
  return { server: redis.servers[0] as RedisServer, tlsPort, admin };
}

export async function startSecuredSentinel(by: Certified): Promise<SecuredSentinel> {
  const [master, replica] = [await startSecured(by), await startSecured(by)];
  await replica.admin.replicaof(HOST, master.tlsPort);
  const port = await freePort();
  await launchSentinel(port, [
    'port 0',
    ...tlsFlags(port, by, { asksClients: true }).map(([name, value]) => `${name} ${value}`),
    'tls-replication yes',
    `user ${WATCHER.username} on >${WATCHER.password} ~* &* +@all`,
    'user default off',
    `sentinel monitor mymaster ${HOST} ${master.tlsPort} 1`,
    `sentinel auth-user mymaster ${KEEPER.username}`,
    `sentinel auth-pass mymaster ${KEEPER.password}`,
    'sentinel down-after-milliseconds mymaster 1000',
    'sentinel failover-timeout mymaster 3000',
  ]);
  const [certificate, key] = [readFileSync(by.certificate), readFileSync(by.key)];
  const client = await whenWatching({ port, tls: { ca: certificate, cert: certificate, key }, ...WATCHER });
  return {
    settings: settingsFor({ mode: 'sentinel', sentinelUrls: [`rediss://${HOST}:${port}`] }),
    servers: [master.server, replica.server],
    master,
    replica,
    masterPort: () => masterPortOf(client),
    stop: async () => undefined,
  };
}

/** Two masters with half of the hash slots each. */
export async function startSecuredCluster(by: Certified): Promise<readonly [Secured, Secured]> {
  const flags = ['--cluster-enabled', 'yes', '--tls-cluster', 'yes'];
  const [first, second] = [await startSecured(by, flags), await startSecured(by, flags)];
  for (const [index, { admin }] of [first, second].entries()) {
    const slots = Array.from({ length: SLOTS / 2 }, (_, at) => at + (index * SLOTS) / 2);
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await admin.call('CLUSTER', 'ADDSLOTS', ...slots);
  }
  await first.admin.call('CLUSTER', 'MEET', HOST, second.tlsPort);
  await eventually(async () => {
    const states = await Promise.all([first, second].map(({ admin }) => admin.call('CLUSTER', 'INFO')));
    return states.every((state) => String(state).includes(`cluster_slots_ok:${SLOTS}`));
  });
  return [first, second];
}

/** The bus of a Cluster listens 10,000 above. */
async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port <= 55_000) return port;
  }
}
