/** Options of connections that the client library gets. frozen-master.test.ts shows the effect of some on a frozen server. */
import { Cluster, type Redis } from 'ioredis';
import { expect, it } from 'vitest';
import {
  type ConnectionRole,
  closeRedis,
  connectRedis,
  type RedisSettings,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { redisSettings } from '../../../../src/app/settings/shared-settings.ts';
import { loadConfig } from '../../../../src/config/load-config.ts';

function settingsOf(mode: RedisSettings['mode']): RedisSettings {
  const loaded = loadConfig({});
  if (loaded.kind !== 'ok') throw new Error('a test with a wrong configuration');
  // There is no server: only the options matter.
  const url = 'redis://127.0.0.1:1';
  return {
    ...redisSettings(loaded.config),
    mode,
    url,
    clusterUrls: [url],
    sentinelUrls: [url],
    sentinelName: 'x',
  };
}

function optionsOf(mode: RedisSettings['mode'], role: ConnectionRole = { name: 'test' }) {
  const connection = connectRedis(settingsOf(mode), role);
  closeRedis(connection);
  if (!(connection instanceof Cluster))
    return { server: (connection as Redis).options, cluster: undefined, all: connection.options };
  return { server: connection.options.redisOptions, cluster: connection.options, all: connection.options };
}

it.each(['single', 'sentinel', 'cluster'] as const)(
  'limits every wait and disables retries and pipelining: %s',
  (mode) => {
    const { server, all } = optionsOf(mode);
    expect(server).toMatchObject({
      commandTimeout: 800,
      socketTimeout: 2_500,
      maxRetriesPerRequest: 1,
      enableAutoPipelining: false,
      autoResendUnfulfilledCommands: false,
    });
    expect(all).toMatchObject({ enableAutoPipelining: false, enableOfflineQueue: false });
  },
);

it('a Sentinel has the same timeout as a server', () => {
  expect(optionsOf('sentinel').server).toMatchObject({ sentinelCommandTimeout: 800 });
});

it('the slots of a Cluster are refreshed every second', () => {
  expect(optionsOf('cluster').cluster).toMatchObject({ slotsRefreshInterval: 1_000, scaleReads: 'master' });
});

it('the wait of a blocking read is added to its timeout', () => {
  const role = { name: 'reader', isBlocking: true, longestWaitMs: 1_000 };
  expect(optionsOf('single', role).server).toMatchObject({ commandTimeout: 1_800, socketTimeout: 3_500 });
});
