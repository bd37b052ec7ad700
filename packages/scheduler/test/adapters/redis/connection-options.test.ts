/** The discipline of connections, as the client library is told it. What a frozen server shows of it is in discipline.test.ts; the rest shows only in worse cases. */
import { Cluster, type Redis } from 'ioredis';
import { expect, it } from 'vitest';
import {
  type ConnectionRole,
  closeRedis,
  connectRedis,
  type RedisSettings,
} from '../../../src/adapters/redis/connection/redis-connection.ts';
import { redisSettings } from '../../../src/app/settings/shared-settings.ts';
import { loadConfig } from '../../../src/config/load-config.ts';

function settingsOf(mode: RedisSettings['mode']): RedisSettings {
  const loaded = loadConfig({});
  if (loaded.kind !== 'ok') throw new Error('a test with a wrong configuration');
  // Nobody listens there: only what is asked for is of interest.
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
  'nothing waits for ever, and nothing is asked twice or put together behind anybody’s back: %s',
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

it('a Sentinel has as long as any server', () => {
  expect(optionsOf('sentinel').server).toMatchObject({ sentinelCommandTimeout: 800 });
});

it('slots of a Cluster are looked at every second', () => {
  expect(optionsOf('cluster').cluster).toMatchObject({ slotsRefreshInterval: 1_000, scaleReads: 'master' });
});

it('a read that waits has as much more time as it may wait', () => {
  const role = { name: 'reader', isBlocking: true, longestWaitMs: 1_000 };
  expect(optionsOf('single', role).server).toMatchObject({ commandTimeout: 1_800, socketTimeout: 3_500 });
});
