/** Nodes in Redis: memory, expiry, and a lost server or id. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import { connectRedis, whenReady } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys, GENERATION_MEMORY_MS } from '../../../../src/adapters/redis/keys.ts';
import { createNodeIdClaims } from '../../../../src/adapters/redis/node-id-claims.ts';
import { createNodeMailbox } from '../../../../src/adapters/redis/node-mailbox.ts';
import { systemClock as clock } from '../../../../src/adapters/system/clock.ts';
import { leaseId } from '../../../../src/domain/lease.ts';
import type { ClaimResult } from '../../../../src/ports/node-id-claims.ts';
import { fresh, times } from '../../../contracts/harness.ts';
import { type RedisUnderTest, settingsFor, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const MOST_BYTES_PER_IDLE_NODE = 2_048;

const generationOf = (claim: ClaimResult): number =>
  claim.kind === 'claimed' ? claim.generation : Number.NaN;

describe('nodes in Redis', () => {
  let server: RedisUnderTest;
  let connection: Redis;

  beforeAll(async () => {
    server = await startRedis();
    connection = connectRedis(server.settings, { name: 'nodes' }) as Redis;
    await whenReady(connection, START_MS);
  }, START_MS);

  afterAll(async () => {
    connection.disconnect();
    await server.stop();
  });

  function open(maxNodes = 100) {
    const keys = createKeys(`test-${randomUUID()}`);
    const ledger = createCapacityLedger({ connection, keys });
    const openDirectory = () => createNodeIdClaims({ connection, keys, clock, maxNodes });
    return { keys, ledger, openDirectory, nodeIdClaims: openDirectory(), node: fresh('node') };
  }

  const keysOf = async (prefix: string): Promise<string[]> => connection.keys(`*${prefix}*`);

  it('take at most 2 KB each when idle, all their keys together', async () => {
    const { ledger, nodeIdClaims, node } = open();
    await nodeIdClaims.claim(node, randomUUID() + randomUUID());
    await ledger.declare(node, { slots: 4, isAccepting: true });
    const lease = leaseId(fresh('job'), 1);
    await ledger.reserve(node, lease, 1_000);
    await ledger.abandon(node, lease);
    await ledger.reconcile(node, { running: 1, runningJobIds: [] });
    await ledger.release(node, lease);
    const found = await keysOf(node);
    const bytes = await Promise.all(found.map((key) => connection.memory('USAGE', key)));
    const total = bytes.reduce<number>((sum, each) => sum + Number(each), 0);
    console.info(`an idle node takes ${total} bytes in ${found.length} key(s)`);
    expect(total).toBeLessThan(MOST_BYTES_PER_IDLE_NODE);
  });

  it('leave no key of a lease after it ended', async () => {
    const { keys, ledger, node } = open();
    await ledger.declare(node, { slots: 9, isAccepting: true });
    const [released, expired, gone] = times(3, () => leaseId(fresh('job'), 1)) as [string, string, string];
    await ledger.reserve(node, released, 60_000);
    await ledger.reserve(node, expired, 20);
    await ledger.reserve(node, gone, 60_000);
    for (const lease of [released, expired, gone]) await ledger.abandon(node, lease);
    await ledger.reconcile(node, { running: 3 });
    await sleep(30);
    await ledger.release(node, released);
    await ledger.reconcile(node, { running: 0, runningJobIds: [] });
    expect(await connection.exists(keys.nodeLeases(node), keys.nodeLeaseMarks(node))).toBe(0);
  });

  it('are served although the server has lost every script', async () => {
    const { ledger, node } = open();
    await ledger.declare(node, { slots: 1, isAccepting: true });
    await connection.script('FLUSH');
    expect(await ledger.loads([node])).toEqual(new Map([[node, { used: 0, max: 1 }]]));
    await connection.script('FLUSH');
    expect(await ledger.reserve(node, 'job:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });

  it('report thousands of loads, in order', async () => {
    const { ledger } = open();
    const nodes = times(1_000, (index) => `node-${index}`);
    await Promise.all(nodes.map((node, slots) => ledger.declare(node, { slots, isAccepting: true })));
    const loads = await ledger.loads(nodes);
    expect(nodes.every((node, slots) => loads.get(node)?.max === slots)).toBe(true);
  });

  it.each([
    ['the ledger first', true],
    ['the directory first', false],
  ])('keep the last generation of a forgotten id for an hour: %s', async (_, isLedgerFirst) => {
    const { keys, ledger, nodeIdClaims, node } = open();
    const first = generationOf(await nodeIdClaims.claim(node, 'mine'));
    await ledger.declare(node, { slots: 1, isAccepting: true });
    await ledger.reserve(node, 'job:1', 60_000);
    if (isLedgerFirst) await ledger.forget(node);
    await nodeIdClaims.release(node, first);
    if (!isLedgerFirst) await ledger.forget(node);
    expect(await connection.hgetall(keys.nodeMeta(node))).toEqual({ generation: String(first) });
    const left = await connection.pttl(keys.nodeMeta(node));
    expect(left).toBeGreaterThan(GENERATION_MEMORY_MS - 60_000);
    expect(left).toBeLessThanOrEqual(GENERATION_MEMORY_MS);
    expect(await keysOf(node)).toEqual([keys.nodeMeta(node)]);
  });

  it('get later generations after Redis was emptied or its clock went back', async () => {
    const { keys, nodeIdClaims, node } = open();
    const before = generationOf(await nodeIdClaims.claim(node, 'mine'));
    await connection.del(keys.nodeMeta(node));
    await sleep(2);
    const after = generationOf(await nodeIdClaims.claim(node, 'mine'));
    expect(after).toBeGreaterThan(before);
    const ahead = after + 3_600_000;
    await connection.hset(keys.nodeMeta(node), 'generation', ahead);
    expect(generationOf(await nodeIdClaims.claim(node, 'mine'))).toBe(ahead + 1);
  });

  it('are not closed by a connection that was replaced', async () => {
    const { ledger, nodeIdClaims, node } = open();
    const claim = generationOf(await nodeIdClaims.claim(node, 'alice'));
    await ledger.declare(node, { slots: 2, isAccepting: true, claim });
    expect(generationOf(await nodeIdClaims.claim(node, 'alice'))).toBeGreaterThan(claim);
    await ledger.declare(node, { slots: 2, isAccepting: false, claim });
    expect(await ledger.reserve(node, 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });

  it('I11 bounded: count for the node limit of all instances', async () => {
    const { openDirectory, nodeIdClaims } = open(3);
    const nodes = times(3, () => fresh('node'));
    const claims = await Promise.all(nodes.map((node) => nodeIdClaims.claim(node, 'mine')));
    const other = openDirectory();
    expect(await other.claim(fresh('node'), 'mine')).toEqual({ kind: 'full' });
    expect(await other.claim(nodes[0] as string, 'mine')).toMatchObject({
      kind: 'claimed',
      isReturning: true,
    });
    expect(await nodeIdClaims.release(nodes[1] as string, generationOf(claims[1] as ClaimResult))).toBe(true);
    expect(await openDirectory().claim(fresh('node'), 'mine')).toMatchObject({ kind: 'claimed' });
  });

  it('are unknown, never absent, while no server answers', async () => {
    const nowhere = connectRedis(settingsFor({ url: 'redis://127.0.0.1:1' }), { name: 'nowhere' });
    const keys = createKeys('lost');
    const ledger = createCapacityLedger({ connection: nowhere, keys });
    const nodeIdClaims = createNodeIdClaims({ connection: nowhere, keys, clock, maxNodes: 9 });
    const mailbox = createNodeMailbox<string>({
      connection: nowhere,
      subscriber: nowhere,
      keys,
      clock,
      maxPerNode: 5,
    });
    const commands = [
      ledger.declare('a', { slots: 1, isAccepting: true }),
      ledger.reserve('a', 'job:1', 1_000),
      ledger.commit('a', 'job:1', 1_000),
      ledger.commit('a', 'job:1', 1_000, true),
      ledger.release('a', 'job:1'),
      ledger.abandon('a', 'job:1'),
      ledger.reconcile('a', { running: 0 }),
      ledger.loads(['a']),
      ledger.forget('a'),
      ledger.reassert('a', 'job:1', 1_000),
      nodeIdClaims.claim('a', 'mine'),
      nodeIdClaims.current('a'),
      nodeIdClaims.release('a', 1),
      mailbox.put('a', {
        jobId: 'job',
        expiresAt: clock.now() + 1_000,
        body: '',
        slot: { lease: 'job:1', ttlMs: 1_000 },
      }),
      mailbox.take('a', { max: 1, waitMs: 1_000 }),
      mailbox.drop('a', 'job'),
      mailbox.forget('a'),
    ];
    const answers = await Promise.allSettled(commands);
    nowhere.disconnect();
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 'rejected',
        reason: { code: 'SCHEDULER_DEPENDENCY_DOWN', cause: expect.any(Error) },
      });
    }
  });
});
