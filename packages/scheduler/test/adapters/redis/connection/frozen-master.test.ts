/** A master that freezes or dies: other shards are not affected, its own commands fail with an error, and it serves again after its return. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { SchedulerError } from '../../../../src/domain/errors.ts';
import { leaseId } from '../../../../src/domain/lease.ts';
import type { CapacityLedger } from '../../../../src/ports/capacity-ledger.ts';
import { fresh } from '../../../contracts/harness.ts';
import { type RedisServer, type RedisUnderTest, startCluster } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
/** Only a hang takes longer. */
const LIMIT_MS = 60_000;
/** Long enough for the masters that answer, on a busy machine. */
const COMMAND_TIMEOUT_MS = 3_000;
const ROUND_MS = 50;

describe('a Cluster whose master', () => {
  let cluster: RedisUnderTest;
  let connection: RedisConnection;
  let ledger: CapacityLedger;
  const keys = createKeys('discipline');

  beforeAll(async () => {
    cluster = await startCluster();
    connection = connectRedis(
      { ...cluster.settings, commandTimeoutMs: COMMAND_TIMEOUT_MS },
      { name: 'discipline' },
    );
    await whenReady(connection, START_MS);
    ledger = createCapacityLedger({ connection, keys });
  }, START_MS);

  afterAll(async () => {
    connection.disconnect();
    for (const server of cluster.servers) server.signal('SIGCONT');
    await cluster.stop();
  });

  const portOf = (nodeId: string): number => {
    const slot = new Command('exists', [keys.nodeMeta(nodeId)]).getSlot();
    const { slots } = connection as unknown as { slots: string[][] };
    return Number(slots[slot]?.[0]?.split(':')[1]);
  };

  /** One node on each master, by its port. */
  async function nodePerMaster(): Promise<Map<number, string>> {
    const nodes = new Map<number, string>();
    while (nodes.size < 3) {
      const node = fresh('node');
      const port = portOf(node);
      if (nodes.has(port)) continue;
      await ledger.declare(node, { slots: 100_000, isAccepting: true });
      nodes.set(port, node);
    }
    return nodes;
  }

  /** The error, if it failed. */
  async function tryReserve(node: string): Promise<unknown> {
    try {
      await ledger.reserve(node, leaseId(fresh('job'), 1), 1_000);
      return undefined;
    } catch (fault) {
      return fault;
    }
  }

  /** Reserves on every shard, every few milliseconds, until the affected one serves again. */
  async function workThrough(sick: string, healthy: readonly string[]) {
    const until = performance.now() + LIMIT_MS;
    const elsewhere: Promise<unknown>[] = [];
    const here: Promise<unknown>[] = [];
    let [servedElsewhere, isRecovered] = [0, false];
    const before = { elsewhere: 0 };
    while (!isRecovered && performance.now() < until) {
      for (const node of healthy) {
        const tried = tryReserve(node);
        elsewhere.push(tried);
        void tried.then((fault) => {
          if (fault === undefined) servedElsewhere += 1;
        });
      }
      const tried = tryReserve(sick);
      here.push(tried);
      void tried.then((fault) => {
        if (fault !== undefined) return;
        if (!isRecovered) before.elsewhere = servedElsewhere;
        isRecovered = true;
      });
      await sleep(ROUND_MS);
    }
    const failed = async (tries: Promise<unknown>[]) =>
      (await Promise.all(tries)).filter((fault) => fault !== undefined);
    return {
      elsewhere: await failed(elsewhere),
      here: await failed(here),
      servedBefore: before.elsewhere,
      isRecovered,
    };
  }

  it.each(['SIGSTOP', 'SIGKILL'] as const)(
    'gets %s fails its own commands only, and serves again',
    async (signal) => {
      const nodes = await nodePerMaster();
      // The port of a master that has not changed since the start, so that it has its replica.
      const victim = cluster.servers.find(
        ({ port }, index) => nodes.has(port) && index === (signal === 'SIGSTOP' ? 0 : 1),
      ) as RedisServer;
      const sick = nodes.get(victim.port) as string;
      const healthy = [...nodes.values()].filter((node) => node !== sick);
      // Replicas must have the writes before their master stops.
      await sleep(100);

      victim.signal(signal);
      const { elsewhere, here, servedBefore, isRecovered } = await workThrough(sick, healthy);
      expect(isRecovered).toBe(true);
      expect(elsewhere).toEqual([]);
      // The other masters served while this one did not.
      expect(servedBefore).toBeGreaterThan(0);
      expect(here.length).toBeGreaterThan(0);
      for (const fault of here) {
        expect(fault).toBeInstanceOf(SchedulerError);
        expect(fault).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN', cause: expect.any(Error) });
      }

      if (signal === 'SIGSTOP') victim.signal('SIGCONT');
    },
  );
});
