/** Several instances and their dead letters, for tests of what operators see. */
import { createLog } from '../../src/adapters/system/log.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Instance } from '../../src/ports/instances.ts';
import { createTestCluster } from './test-cluster.ts';

const LIMITS = { maxMessages: 1_000, maxDeliveries: 1, maxDead: 1_000, maxDeadOfTenant: 1_000 };

export function createInstancesInMemory({ clock, maxMessages }: { clock: Clock; maxMessages?: number }) {
  const limits = { ...LIMITS, ...(maxMessages !== undefined && { maxMessages }) };
  const { store, announce } = createTestCluster({ clock, settings: { inbox: limits } });
  const { inbox, instances, deadLetters, figures } = store;
  const lines: string[] = [];
  return {
    inbox,
    instances,
    figures,
    deadLetters,
    log: createLog('debug', { destination: { write: (line) => lines.push(line) } }),
    lines,
    join: announce,
    /** Delivered as often as allowed and never handled. */
    async die(instanceId: string, ...bodies: readonly string[]): Promise<void> {
      for (const body of bodies) await inbox.send(instanceId, body);
      await inbox.take(instanceId, { max: 1_000, waitMs: 0 });
      await inbox.takeAgain(instanceId, { max: 1_000, idleMs: 0 });
    },
    /** Removed after its takeover; its dead letters are left. */
    async goForGood(instance: Instance): Promise<void> {
      await instances.leave(instance);
      await inbox.close(instance.instanceId);
      await deadLetters.orphan(instance.instanceId);
      await instances.remove(instance.instanceId);
    },
    arrived: async (instanceId: string): Promise<string[]> =>
      (await inbox.take(instanceId, { max: 1_000, waitMs: 0 })).map(({ body }) => body),
  };
}

export type InstancesInMemory = ReturnType<typeof createInstancesInMemory>;
