/** Instances reach Redis over TLS only: one server, Sentinels and their master, a Cluster. */

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asArguments, type Certified, certify, tlsFlags } from '../../support/certify.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startRedis } from '../../support/redis-servers.ts';
import { doJob } from '../multi-instance/do-job.ts';
import { startInstance } from '../multi-instance/start-instances.ts';
import { OUTPUT } from '../support/sdk-node.ts';
import type { Settings } from '../support/start-app.ts';
import { freePort } from './free-port.ts';
import { startSecuredCluster, startSecuredSentinel, USER, WATCHER } from './start-secured.ts';

const TEST_MS = 120_000;
const REDIS = 'scheduler.cluster.redis';
const HASTY: Settings = {
  [`${REDIS}.connect_timeout_ms`]: 1_000,
  [`${REDIS}.command_timeout_ms`]: 1_000,
  [`${REDIS}.socket_timeout_ms`]: 2_000,
};
const AS_USER: Settings = { [`${REDIS}.username`]: USER.username, [`${REDIS}.password`]: USER.password };

/** Self-signed: the certificate is its own authority. */
const shown = ({ certificate, key }: Certified): Settings => ({
  [`${REDIS}.tls_ca_file`]: certificate,
  [`${REDIS}.tls_cert_file`]: certificate,
  [`${REDIS}.tls_key_file`]: key,
});

/** The ports at which instances are connected. */
async function portsOfInstances(client: Redis): Promise<readonly number[]> {
  const list = String(await client.client('LIST'));
  const found = [...list.matchAll(/laddr=127\.0\.0\.1:(\d+) .*name=lingua/g)].map(([, port]) => Number(port));
  return [...new Set(found)];
}

describe('instances share jobs over TLS', () => {
  it('only with a server whose certificate they trust', async () => {
    const certified = await certify();
    const port = await freePort();
    const redis = await startRedis(asArguments(tlsFlags(port, certified)));
    onTestFinished(() => redis.stop());
    const secured = { [`${REDIS}.url`]: `rediss://127.0.0.1:${port}` };
    await doJob(redis, 'tls', { ...secured, [`${REDIS}.tls_ca_file`]: certified.certificate });
    const client = new Redis(redis.settings.url);
    onTestFinished(() => client.disconnect());
    expect(await portsOfInstances(client)).toEqual([port]);
    await expect(startInstance(redis, 'tls', { ...secured, ...HASTY })).rejects.toThrow(
      /self-signed certificate/,
    );
  });

  it(
    'through a Sentinel, also after the master is replaced',
    async () => {
      const certified = await certify();
      const redis = await startSecuredSentinel(certified);
      const settings = {
        ...AS_USER,
        [`${REDIS}.sentinel_urls`]: redis.settings.sentinelUrls.join(','),
        [`${REDIS}.sentinel_username`]: WATCHER.username,
        [`${REDIS}.sentinel_password`]: WATCHER.password,
        ...shown(certified),
      };
      const [a, b] = await doJob(redis, 'tls', settings);
      expect(await portsOfInstances(redis.master.admin)).toEqual([redis.master.tlsPort]);
      expect([...a.log, ...b.log].filter((line) => line.includes('could not be inspected'))).toEqual([]);

      const inPlain = redis.settings.sentinelUrls.join(',').replaceAll('rediss:', 'redis:');
      for (const spelling of [{ [`${REDIS}.tls`]: true }, { [`${REDIS}.url`]: 'rediss://unused' }]) {
        await startInstance(redis, 'tls', { ...settings, [`${REDIS}.sentinel_urls`]: inPlain, ...spelling });
      }
      await expect(
        startInstance(redis, 'tls', { ...settings, ...HASTY, [`${REDIS}.sentinel_password`]: 'guessed' }),
      ).rejects.toThrow('WRONGPASS');

      redis.master.server.signal('SIGKILL');
      await eventually(async () => (await redis.masterPort()) !== redis.master.tlsPort);
      for (const each of [a, b]) {
        const next = await eventually(() => each.dispatch());
        expect(await b.settled(next.job_id)).toMatchObject({ result: OUTPUT });
      }
      expect(await portsOfInstances(redis.replica.admin)).toEqual([redis.replica.tlsPort]);
    },
    TEST_MS,
  );

  it(
    'with a Cluster',
    async () => {
      const certified = await certify();
      const masters = await startSecuredCluster(certified);
      const clusterUrls = [`rediss://127.0.0.1:${masters[0].tlsPort}`];
      const redis = {
        settings: settingsFor({ mode: 'cluster', clusterUrls }),
        servers: masters.map(({ server }) => server),
        stop: async () => undefined,
      };
      await doJob(redis, 'tls', { ...AS_USER, ...shown(certified) });
      for (const { admin, tlsPort } of masters) expect(await portsOfInstances(admin)).toEqual([tlsPort]);
    },
    TEST_MS,
  );

  it('with a server that requires a client certificate', async () => {
    const [server, client] = [await certify(), await certify('lingua.test')];
    const port = await freePort();
    const trusted = `${server.certificate}.all`;
    await writeFile(
      trusted,
      readFileSync(server.certificate, 'utf8') + readFileSync(client.certificate, 'utf8'),
    );
    const redis = await startRedis(asArguments(tlsFlags(port, server, { trusted, asksClients: true })));
    onTestFinished(() => redis.stop());
    const secured = {
      [`${REDIS}.url`]: `rediss://127.0.0.1:${port}`,
      [`${REDIS}.tls_ca_file`]: server.certificate,
    };
    await doJob(redis, 'tls', { ...shown(client), ...secured });
    await expect(startInstance(redis, 'tls', { ...secured, ...HASTY })).rejects.toThrow(/not reached/);
  });
});
