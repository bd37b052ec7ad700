/** The capacity ledger of several instances: a set of leases per node, changed by one script per call, by the server's clock. */
import type { NodeId } from '../../domain/ids.ts';
import type { LeaseId, Load } from '../../domain/lease.ts';
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import { createAbandonLease } from './capacity-ledger/abandon-lease.ts';
import { createCommitLease } from './capacity-ledger/commit-lease.ts';
import { createDeclareNode } from './capacity-ledger/declare-node.ts';
import { createForgetNode } from './capacity-ledger/forget-node.ts';
import { createReadLoad } from './capacity-ledger/read-load.ts';
import { createReassertLease } from './capacity-ledger/reassert-lease.ts';
import { createReconcileNode } from './capacity-ledger/reconcile-node.ts';
import { createReleaseLease } from './capacity-ledger/release-lease.ts';
import { createReserveSlot } from './capacity-ledger/reserve-slot.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { type Keys, NODE_IDLE_MS } from './keys.ts';

export interface RedisCapacityLedger extends CapacityLedger {
  /**
   * Writes a lease again that a failover may have lost. It counts even if the node is full, lasts for at least `ttlMs` from now, and is
   * not marked as abandoned. Undefined: the node is unknown, and the lease counts as soon as the node is declared.
   */
  reassert(nodeId: NodeId, lease: LeaseId, ttlMs: number, isTaken?: boolean): Promise<Load | undefined>;
}

export function createCapacityLedger(deps: {
  connection: RedisConnection;
  keys: Keys;
  /**
   * After this time, or half of it, without a declaration, a claim or a report a node is forgotten, so that the keys of a node
   * whose holder died expire. At least twice as long as an absent node is kept.
   */
  idleMs?: number;
}): RedisCapacityLedger {
  const { connection, keys, idleMs = NODE_IDLE_MS } = deps;
  return {
    declare: createDeclareNode(connection, keys, idleMs),
    reserve: createReserveSlot(connection, keys, idleMs),
    commit: createCommitLease(connection, keys, idleMs),
    release: createReleaseLease(connection, keys),
    abandon: createAbandonLease(connection, keys, idleMs),
    reconcile: createReconcileNode(connection, keys, idleMs),
    loads: createReadLoad(connection, keys),
    forget: createForgetNode(connection, keys),
    reassert: createReassertLease(connection, keys, idleMs),
  };
}
