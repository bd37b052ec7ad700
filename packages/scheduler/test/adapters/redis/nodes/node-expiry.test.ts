/** How long Redis keeps a node without reports, and how leases are restored that a failover lost. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { createNodeIdClaims } from '../../../../src/adapters/redis/node-id-claims.ts';
import { systemClock as clock } from '../../../../src/adapters/system/clock.ts';
import { leaseId } from '../../../../src/domain/lease.ts';
import type { ClaimResult } from '../../../../src/ports/node-id-claims.ts';
import { fresh, times } from '../../../contracts/harness.ts';
import { eventually } from '../../../support/eventually.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const IDLE_MS = 20_000;
const LONG_MS = 60_000;

const newLease = (): string => leaseId(fresh('job'), 1);
const generationOf = (claim: ClaimResult): number =>
  claim.kind === 'claimed' ? claim.generation : Number.NaN;

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('on %s', (_, startServers) => {
  let servers: RedisUnderTest;
  let connection: RedisConnection;
  beforeAll(async () => {
    servers = await startServers();
    connection = connectRedis(servers.settings, { name: 'node-life' });
    await whenReady(connection, START_MS);
  }, START_MS);
  afterAll(async () => {
    connection.disconnect();
    await servers.stop();
  });

  function open(idleMs = IDLE_MS) {
    const keys = createKeys(`test-${randomUUID()}`);
    const node = fresh('node');
    const own = [keys.nodeMeta(node), keys.nodeLeases(node), keys.nodeLeaseMarks(node)];
    return {
      keys,
      node,
      ledger: createCapacityLedger({ connection, keys, idleMs }),
      nodeIdClaims: createNodeIdClaims({ connection, keys, clock, maxNodes: 100, idleMs }),
      /** Expiries of the hash, the leases and the marks; -2: no key, -1: no expiry. */
      ttls: () => Promise.all(own.map((key) => connection.pttl(key))),
      shorten: (ms: number) => Promise.all(own.map((key) => connection.pexpire(key, ms))),
    };
  }

  const isWhole = (ttl: number | undefined) => ttl !== undefined && ttl > IDLE_MS / 2 && ttl <= IDLE_MS;

  describe('a node without reports', () => {
    it('is kept for a while after it was claimed or declared', async () => {
      const { ledger, nodeIdClaims, node, ttls, shorten } = open();
      for (const _round of [1, 2]) {
        const generation = generationOf(await nodeIdClaims.claim(node, 'mine'));
        expect((await ttls()).map(isWhole)).toEqual([true, false, false]);
        await shorten(5_000);
        await ledger.declare(node, { slots: 1, isAccepting: true });
        expect((await ttls()).map(isWhole)).toEqual([true, false, false]);
        await shorten(5_000);
        await nodeIdClaims.claim(node, 'mine').then(generationOf);
        expect((await ttls()).map(isWhole)).toEqual([true, false, false]);
        await nodeIdClaims.release(node, generation + 1);
        await ledger.forget(node);
      }
    });

    it('leaves no key without an expiry, whatever happens to its leases', async () => {
      const { ledger, node, ttls, shorten } = open();
      await ledger.declare(node, { slots: 4, isAccepting: true });
      const lease = newLease();
      for (const take of [
        () => ledger.reserve(node, lease, LONG_MS),
        () => ledger.commit(node, lease, LONG_MS, true),
        () => ledger.reassert(node, lease, LONG_MS),
      ]) {
        await take();
        expect((await ttls()).slice(0, 2).map(isWhole)).toEqual([true, true]);
        await ledger.abandon(node, lease);
        expect((await ttls()).map(isWhole)).toEqual([true, true, true]);
        await ledger.release(node, lease);
        expect((await ttls()).slice(1)).toEqual([-2, -2]);
      }
      await ledger.reserve(node, lease, LONG_MS);
      await ledger.reconcile(node, { running: 1 });
      expect((await ttls()).map(isWhole)).toEqual([true, true, true]);
      // A second lease does not extend the expiry: reports do.
      await shorten(5_000);
      await ledger.reserve(node, newLease(), 1_000);
      expect((await ttls())[1]).toBeLessThanOrEqual(5_000);
      await ledger.declare(node, { slots: 4, isAccepting: true });
      expect((await ttls()).map(isWhole)).toEqual([true, true, false]);
    });

    it('expires with all its keys, and its next generation is later', async () => {
      const { ledger, nodeIdClaims, node, ttls } = open(300);
      const last = generationOf(await nodeIdClaims.claim(node, 'mine'));
      await ledger.declare(node, { slots: 2, isAccepting: true });
      const lease = newLease();
      await ledger.reserve(node, lease, LONG_MS);
      await ledger.abandon(node, lease);
      await ledger.reconcile(node, { running: 1 });
      await eventually(async () => expect(await ttls()).toEqual([-2, -2, -2]));
      expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'unknown_node' });
      expect(await ledger.reconcile(node, { running: 1 })).toBeUndefined();
      expect(await nodeIdClaims.current(node)).toBeUndefined();
      const claim = await nodeIdClaims.claim(node, 'theirs');
      expect(claim).toMatchObject({ kind: 'claimed', isReturning: false });
      expect(generationOf(claim)).toBeGreaterThan(last);
      expect(await nodeIdClaims.release(node, last)).toBe(false);
    });

    it('is kept with its claim and leases while reports arrive', async () => {
      const { ledger, nodeIdClaims, node, ttls, shorten } = open();
      const generation = generationOf(await nodeIdClaims.claim(node, 'mine'));
      await ledger.declare(node, { slots: 2, isAccepting: true });
      await ledger.reserve(node, newLease(), LONG_MS);
      for (const left of [IDLE_MS / 2 - 1, 100]) {
        await ledger.reconcile(node, { running: 1 });
        await shorten(left);
        await ledger.reconcile(node, { running: 1 });
        expect((await ttls()).map(isWhole)).toEqual([true, true, true]);
      }
      expect(await nodeIdClaims.current(node)).toBe(generation);
      expect(await nodeIdClaims.claim(node, 'theirs')).toEqual({ kind: 'conflict' });
    });

    it('extends its expiry only after half of it has passed', async () => {
      const { ledger, node, ttls, shorten } = open();
      await ledger.declare(node, { slots: 2, isAccepting: true });
      await ledger.reserve(node, newLease(), LONG_MS);
      await ledger.reconcile(node, { running: 1 });
      await shorten(IDLE_MS - 5_000);
      await ledger.reconcile(node, { running: 1 });
      for (const ttl of await ttls()) expect(ttl).toBeLessThanOrEqual(IDLE_MS - 5_000);
    });
  });

  it('a commit never shortens a live lease', async () => {
    const { keys, ledger, node } = open();
    const endsIn = async (lease: string) =>
      Number(await connection.zscore(keys.nodeLeases(node), lease)) - Date.now();
    await ledger.declare(node, { slots: 2, isAccepting: true });
    const [lease, abandoned] = [newLease(), newLease()];
    for (const each of [lease, abandoned]) await ledger.reserve(node, each, 5_000);
    for (const ttlMs of [LONG_MS, 1_000]) await ledger.commit(node, lease, ttlMs);
    expect(await endsIn(lease)).toBeGreaterThan(LONG_MS / 2);
    await ledger.abandon(node, abandoned);
    await ledger.commit(node, abandoned, LONG_MS);
    expect(await endsIn(abandoned)).toBeLessThanOrEqual(5_000);
  });

  it('an abandoned lease ends earlier, never later', async () => {
    const { keys, ledger, node } = open();
    await ledger.declare(node, { slots: 2, isAccepting: true });
    const lease = newLease();
    const end = () => connection.zscore(keys.nodeLeases(node), lease);
    await ledger.reserve(node, lease, LONG_MS);
    const reserved = await end();
    await ledger.abandon(node, lease);
    expect(await end()).toBe(reserved);
    await ledger.abandon(node, lease, 5_000);
    const shortened = await end();
    expect(Number(shortened) - Date.now()).toBeLessThanOrEqual(5_000);
    for (const endsInMs of [undefined, LONG_MS]) await ledger.abandon(node, lease, endsInMs);
    expect(await end()).toBe(shortened);
  });

  describe('a lease that a failover lost', () => {
    async function start(slots: number) {
      const opened = open();
      await opened.ledger.declare(opened.node, { slots, isAccepting: true });
      return opened;
    }

    it('is restored once, also beyond the slots', async () => {
      const { ledger, node } = await start(2);
      const [first, second, third] = times(3, newLease) as [string, string, string];
      expect(await ledger.reassert(node, first, LONG_MS)).toEqual({ used: 1, max: 2 });
      expect(await ledger.reassert(node, first, LONG_MS)).toEqual({ used: 1, max: 2 });
      expect(await ledger.reserve(node, first, LONG_MS)).toMatchObject({ kind: 'already' });
      await ledger.reassert(node, second, LONG_MS);
      expect(await ledger.reassert(node, third, LONG_MS)).toEqual({ used: 3, max: 2 });
      expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'full', used: 3, max: 2 });
      await ledger.release(node, third);
      expect(await ledger.release(node, second)).toEqual({ kind: 'released', used: 1, max: 2 });
      expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'reserved' });
    });

    it('lasts at least for the given time, and is never shortened', async () => {
      const { keys, ledger, node } = await start(2);
      const lease = newLease();
      const endsIn = async () => Number(await connection.zscore(keys.nodeLeases(node), lease)) - Date.now();
      await ledger.reserve(node, lease, 5_000);
      await ledger.reassert(node, lease, 50_000);
      expect(await endsIn()).toBeGreaterThan(40_000);
      await ledger.reassert(node, lease, 5_000);
      expect(await endsIn()).toBeGreaterThan(40_000);
      expect(await endsIn()).toBeLessThanOrEqual(50_000);
      const short = newLease();
      await ledger.reassert(node, short, 20);
      await eventually(async () => (await ledger.loads([node])).get(node)?.used === 1);
      expect(await ledger.reassert(node, lease, 1_000)).toEqual({ used: 1, max: 2 });
      expect(await ledger.commit(node, short, LONG_MS)).toMatchObject({ kind: 'absent', used: 1 });
    });

    it('counts beside the report, without expired leases, and keeps its mark', async () => {
      const { keys, ledger, node } = await start(9);
      const [abandoned, expired] = [newLease(), newLease()];
      const liveLeases = () => connection.zcount(keys.nodeLeases(node), Date.now(), '+inf');
      await ledger.reserve(node, abandoned, LONG_MS);
      await ledger.abandon(node, abandoned);
      await ledger.reserve(node, expired, 20);
      await ledger.reconcile(node, { running: 5 });
      await eventually(async () => (await liveLeases()) === 1);
      expect(await ledger.reassert(node, newLease(), LONG_MS)).toEqual({ used: 5, max: 9 });
      expect(await connection.hkeys(keys.nodeLeaseMarks(node))).not.toContain(`r:${expired}`);
      await ledger.reassert(node, abandoned, LONG_MS);
      expect(await ledger.reconcile(node, { running: 1, runningJobIds: [] })).toEqual({ used: 1, max: 9 });
      const reported = newLease();
      await ledger.reassert(node, reported, LONG_MS);
      await ledger.reconcile(node, { running: 7 });
      await ledger.release(node, reported);
      expect(await ledger.reassert(node, newLease(), LONG_MS)).toEqual({ used: 6, max: 9 });
    });

    it('I2 no leak: is ended by a report that does not name its job', async () => {
      const { ledger, node } = await start(9);
      await ledger.reassert(node, newLease(), LONG_MS);
      await ledger.reassert(node, newLease(), LONG_MS, true);
      const committed = newLease();
      await ledger.reserve(node, committed, LONG_MS);
      await ledger.commit(node, committed, LONG_MS);
      const report = { running: 0, runningJobIds: [], takenMs: 0 };
      expect(await ledger.reconcile(node, report)).toEqual({ used: 1, max: 9 });
    });

    it('counts on a lost node as soon as it is declared again', async () => {
      const { ledger, node } = open();
      const [first, second] = [newLease(), newLease()];
      expect(await ledger.reassert(node, first, LONG_MS)).toBeUndefined();
      expect(await ledger.reassert(node, second, LONG_MS)).toBeUndefined();
      expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'unknown_node' });
      expect(await ledger.declare(node, { slots: 2, isAccepting: true })).toEqual({ used: 2, max: 2 });
      expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'full' });
      expect(await ledger.release(node, first)).toEqual({ kind: 'released', used: 1, max: 2 });
    });

    it('its release corrects a report that arrived while it was lost', async () => {
      const { ledger, node } = await start(3);
      await ledger.reconcile(node, { running: 2 });
      const [first, second, later] = times(3, newLease) as [string, string, string];
      await ledger.reassert(node, first, LONG_MS);
      await ledger.reassert(node, second, LONG_MS);
      expect(await ledger.reassert(node, first, LONG_MS)).toEqual({ used: 2, max: 3 });
      // The report counted two, and both are known: this lease came later.
      expect(await ledger.reassert(node, later, LONG_MS)).toEqual({ used: 3, max: 3 });
      expect(await ledger.release(node, later)).toMatchObject({ used: 2 });
      expect(await ledger.release(node, first)).toMatchObject({ used: 1 });
      expect(await ledger.release(node, second)).toMatchObject({ used: 0 });
    });

    it('can be released, but not committed, while its node is unknown', async () => {
      const { keys, ledger, node, ttls } = open();
      const [lease, other] = [newLease(), newLease()];
      await ledger.reassert(node, lease, 5_000);
      for (const isLate of [false, true])
        for (const each of [lease, other])
          expect(await ledger.commit(node, each, 50_000, isLate)).toEqual({ kind: 'unknown_node' });
      const ends = await connection.zrange(keys.nodeLeases(node), '0', '-1', 'WITHSCORES');
      expect(ends).toHaveLength(2);
      expect(Number(ends[1]) - Date.now()).toBeLessThanOrEqual(5_000);
      expect(await ledger.release(node, lease)).toEqual({ kind: 'unknown_node' });
      expect(await ttls()).toEqual([-2, -2, -2]);
    });

    it('expires on a node that never returns', async () => {
      const { ledger, node, ttls } = open();
      await ledger.reassert(node, newLease(), 50_000);
      await ledger.reassert(node, newLease(), 5_000);
      const [meta, leases, marks] = await ttls();
      expect([meta, marks]).toEqual([-2, -2]);
      expect(leases).toBeGreaterThan(40_000);
      expect(leases).toBeLessThanOrEqual(50_000);
    });
  });
});
