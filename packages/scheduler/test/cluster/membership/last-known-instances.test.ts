/** Membership while a part of the store cannot be read. */
import { describe, expect, it } from 'vitest';
import { createLastKnownInstances } from '../../../src/cluster/membership/last-known-instances.ts';
import { SchedulerError } from '../../../src/domain/errors.ts';
import type { Instance } from '../../../src/ports/instances.ts';
import { createTestCluster } from '../../support/test-cluster.ts';

const TTL_MS = 4_000;

const named = (instanceId: string): Instance => ({
  instanceId,
  incarnation: `${instanceId}-1`,
  startedAt: 0,
  hostname: 'host',
  pid: 1,
  version: '1',
});

/** Two instances and a store of which parts can be cut off: the list of names, and each presence. */
async function createRig() {
  const {
    clock,
    store: { instances: store },
  } = createTestCluster();
  const away = new Set<string>();
  let uncertainReads = 0;
  const check = (part: string): void => {
    if (away.has(part)) throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `${part} is away`);
  };
  const instances = createLastKnownInstances({
    instances: {
      ...store,
      async all() {
        check('list');
        return store.all();
      },
      async living(instanceIds) {
        for (const instanceId of instanceIds) check(instanceId);
        return store.living(instanceIds);
      },
    },
    onUncertain() {
      uncertainReads += 1;
    },
  });
  for (const instanceId of ['a', 'b']) await instances.announce(named(instanceId), TTL_MS);
  const look = async (): Promise<string[]> => [...(await instances.living(await instances.all())).keys()];
  return { clock, away, instances, look, uncertainReads: () => uncertainReads };
}

describe('membership while a part of the store is away', () => {
  it('shows living and dead instances while the whole store answers', async () => {
    const { clock, instances, look, uncertainReads } = await createRig();
    expect(await look()).toEqual(['a', 'b']);
    await clock.advance(TTL_MS - 1);
    await instances.renew(named('a'), TTL_MS);
    await clock.advance(2);
    expect(await look()).toEqual(['a']);
    expect(uncertainReads()).toBe(0);
  });

  it('shows an instance as last known while its presence cannot be read', async () => {
    const { clock, away, look, uncertainReads } = await createRig();
    await look();
    away.add('b');
    await clock.advance(TTL_MS - 1);
    expect(await look()).toEqual(['a', 'b']);
    expect(uncertainReads()).toBe(1);
    // Once the presence can be read again, it counts.
    await clock.advance(2);
    away.clear();
    expect(await look()).toEqual([]);
    expect(uncertainReads()).toBe(1);
  });

  it('keeps the last list of names while the list cannot be read', async () => {
    const { away, look, uncertainReads } = await createRig();
    await look();
    away.add('list');
    expect(await look()).toEqual(['a', 'b']);
    expect(uncertainReads()).toBe(1);
  });

  it('rejects if nothing was known before', async () => {
    const { away, instances, look } = await createRig();
    away.add('list');
    await expect(look()).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    away.clear();
    away.add('b');
    await expect(instances.living(['a', 'b'])).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
  });

  it('does not revive dead or removed instances during an outage', async () => {
    const { clock, away, instances, look } = await createRig();
    await look();
    await clock.advance(TTL_MS + 1);
    expect(await look()).toEqual([]);
    away.add('a');
    await expect(look()).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    away.clear();
    await instances.announce(named('a'), TTL_MS);
    await look();
    await clock.advance(TTL_MS + 1);
    await instances.remove('a');
    await instances.all();
    away.add('a');
    await expect(instances.living(['a'])).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
  });
});
