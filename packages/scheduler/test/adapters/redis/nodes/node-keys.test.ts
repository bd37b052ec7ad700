/** Keys and commands of the operations on nodes: one hash slot, one round trip. */
import fc from 'fast-check';
import { Command } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import type { RedisConnection } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys, NODE_PARTS } from '../../../../src/adapters/redis/keys.ts';
import { partOf } from '../../../../src/adapters/redis/node-id-claims/node-count.ts';
import { createNodeIdClaims } from '../../../../src/adapters/redis/node-id-claims.ts';
import { createArrivals } from '../../../../src/adapters/redis/node-mailbox/arrivals.ts';
import { createNodeMailbox } from '../../../../src/adapters/redis/node-mailbox.ts';
import { systemClock as clock } from '../../../../src/adapters/system/clock.ts';
import { isOutsideId } from '../../../../src/domain/ids.ts';
import { leaseId } from '../../../../src/domain/lease.ts';
import { createRecordingConnection } from './recording-connection.ts';

const keys = createKeys('lingua');
const slotOf = (key: string): number => new Command('exists', [key]).getSlot();

const messages = [...'abzAZ019._:-'];
const anyId = fc
  .array(fc.constantFrom(...messages), { minLength: 1, maxLength: 40 })
  .map((some) => some.join(''))
  .filter(isOutsideId);

const deaf = { on: () => undefined } as unknown as RedisConnection;

function everyOperation() {
  const { connection, takeCalls } = createRecordingConnection(['load', 1, 2]);
  const ledger = createCapacityLedger({ connection, keys });
  const nodeIdClaims = createNodeIdClaims({ connection, keys, clock, maxNodes: 0 });
  const mailbox = createNodeMailbox<string>({ connection, subscriber: deaf, keys, clock, maxPerNode: 5 });
  const operations = (node: string, job: string): Record<string, () => unknown> => {
    const lease = leaseId(job, 1);
    return {
      declare: () => ledger.declare(node, { slots: 1, isAccepting: true }),
      reserve: () => ledger.reserve(node, lease, 1),
      commit: () => ledger.commit(node, lease, 1),
      release: () => ledger.release(node, lease),
      'commit late': () => ledger.commit(node, lease, 1, true),
      abandon: () => ledger.abandon(node, lease, 1),
      reconcile: () => ledger.reconcile(node, { running: 0, runningJobIds: [job] }),
      loads: () => ledger.loads([node]),
      'forget a node': () => ledger.forget(node),
      reassert: () => ledger.reassert(node, lease, 1),
      claim: () => nodeIdClaims.claim(node, 'credential-1'),
      current: () => nodeIdClaims.current(node),
      'keep orders': () => nodeIdClaims.keepOrders(node, 1, { isCordoned: true, isDrained: false }),
      'release a claim': () => nodeIdClaims.release(node, 1),
      put: () =>
        mailbox.put(node, {
          jobId: job,
          expiresAt: clock.now() + 1_000,
          body: '',
          slot: { lease, ttlMs: 1 },
        }),
      take: () => mailbox.take(node, { max: 1, waitMs: 0 }),
      drop: () => mailbox.drop(node, job),
      'forget a mailbox': () => mailbox.forget(node),
    };
  };
  return { operations, takeCalls, nodeIdClaims };
}

describe('operations on nodes', () => {
  it('I8 one slot per script: all keys of a call share the node’s hash slot', async () => {
    const { operations, takeCalls, nodeIdClaims } = everyOperation();
    await nodeIdClaims.claim('first', 'credential-1');
    await fc.assert(
      fc.asyncProperty(anyId, anyId, async (node, job) => {
        takeCalls();
        for (const operate of Object.values(operations(node, job))) {
          await operate();
          const [call = []] = takeCalls();
          expect(call.length).toBeGreaterThan(0);
          expect(new Set(call.map(slotOf))).toEqual(new Set([slotOf(`{node:${node}}`)]));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('send one command each', async () => {
    const { operations, takeCalls, nodeIdClaims } = everyOperation();
    await nodeIdClaims.claim('first', 'credential-1');
    for (const [name, operate] of Object.entries(operations('node-1', 'job-1'))) {
      takeCalls();
      await operate();
      // The end of a claim also removes it from the index: rare, and no caller waits for it.
      expect([name, takeCalls().length]).toEqual([name, name === 'release a claim' ? 2 : 1]);
    }
  });

  it('read the loads of many nodes in one pipeline, each node once', async () => {
    const { connection, takeCalls } = createRecordingConnection(['load', 1, 2]);
    const ledger = createCapacityLedger({ connection, keys });
    const nodes = Array.from({ length: 700 }, (_, index) => `node-${index}`);
    expect((await ledger.loads([...nodes, ...nodes])).size).toBe(700);
    expect(takeCalls()).toHaveLength(700);
  });

  it('subscribe to a channel in the hash slot of their node', () => {
    const received: string[] = [];
    const subscriber = {
      on: () => undefined,
      ssubscribe: async (channel: string) => void received.push(channel),
    } as unknown as RedisConnection;
    createArrivals({ subscriber, keys }).subscribe('node-1', {
      onSubscribed() {},
      onFailed() {},
      onArrival() {},
    });
    expect(received.map(slotOf)).toEqual([slotOf('{node:node-1}')]);
  });

  it('spread the index of nodes evenly over its parts', () => {
    const counts = new Array<number>(NODE_PARTS).fill(0);
    for (let index = 0; index < 16_000; index += 1) {
      const part = partOf(`node-${index}`);
      counts[part] = (counts[part] ?? 0) + 1;
    }
    expect(Math.max(...counts)).toBeLessThan(2 * (16_000 / NODE_PARTS));
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });
});
