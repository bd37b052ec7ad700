/** Several instances on memory stores, with messages that die as they do in real life, for what operators see of them. */
import { createDeadLetters, createDeadShelf } from '../../src/adapters/memory/dead-letters.ts';
import { createInbox } from '../../src/adapters/memory/inbox.ts';
import { createInstanceFigures } from '../../src/adapters/memory/instance-figures.ts';
import { createInstances } from '../../src/adapters/memory/instances.ts';
import { createLog } from '../../src/adapters/system/log.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Instance } from '../../src/ports/instances.ts';

export const STARTED_AT = 1_699_999_000_000;

const LIVES_MS = 3_600_000;
const LIMITS = { maxMessages: 1_000, maxDeliveries: 1, maxDead: 1_000 };

export const instanceNamed = (instanceId: string, parts: Partial<Instance> = {}): Instance => ({
  instanceId,
  incarnation: `${instanceId}-1`,
  startedAt: STARTED_AT,
  hostname: 'host-1',
  pid: 4711,
  version: '1.2.3',
  advertiseUrl: `http://${instanceId}:5010`,
  ...parts,
});

export function createInstancesInMemory({ clock, maxMessages }: { clock: Clock; maxMessages?: number }) {
  const limits = { ...LIMITS, ...(maxMessages !== undefined && { maxMessages }) };
  const shelf = createDeadShelf({ clock, ...limits });
  const inbox = createInbox({ clock, shelf, ...limits });
  const instances = createInstances({ clock });
  const deadLetters = createDeadLetters({ clock, shelf, inbox });
  const lines: string[] = [];
  return {
    inbox,
    instances,
    figures: createInstanceFigures({ clock }),
    deadLetters,
    log: createLog('debug', { destination: { write: (line) => lines.push(line) } }),
    lines,
    async join(instanceId: string, parts?: Partial<Instance>): Promise<Instance> {
      const instance = instanceNamed(instanceId, parts);
      await instances.announce(instance, LIVES_MS);
      await inbox.open(instanceId);
      return instance;
    },
    /** Read as often as allowed and never handled. */
    async die(instanceId: string, ...bodies: readonly string[]): Promise<void> {
      for (const body of bodies) await inbox.send(instanceId, body);
      await inbox.take(instanceId, { max: 1_000, waitMs: 0 });
      await inbox.takeAgain(instanceId, { max: 1_000, idleMs: 0 });
    },
    /** Gone for good: adopted and removed, its dead letters left behind. */
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
