/** The capacity ledger of many instances: a set of leases per node, changed by one script per call, on the server's own time. */
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import { createCommitLease } from './capacity-ledger/commit-lease.ts';
import { createDeclareNode } from './capacity-ledger/declare-node.ts';
import { createFenceLease } from './capacity-ledger/fence-lease.ts';
import { createForgetNode } from './capacity-ledger/forget-node.ts';
import { createReadLoad } from './capacity-ledger/read-load.ts';
import { createReconcileNode } from './capacity-ledger/reconcile-node.ts';
import { createReleaseLease } from './capacity-ledger/release-lease.ts';
import { createReserveSlot } from './capacity-ledger/reserve-slot.ts';
import type { Keys } from './keys.ts';
import type { RedisConnection } from './redis-connection.ts';

export function createCapacityLedger(deps: { connection: RedisConnection; keys: Keys }): CapacityLedger {
  const { connection, keys } = deps;
  return {
    declare: createDeclareNode(connection, keys),
    reserve: createReserveSlot(connection, keys),
    commit: createCommitLease(connection, keys),
    release: createReleaseLease(connection, keys),
    fence: createFenceLease(connection, keys),
    reconcile: createReconcileNode(connection, keys),
    loads: createReadLoad(connection, keys),
    forget: createForgetNode(connection, keys),
  };
}
