/** Quota units when caps grow and when all jobs are dropped. */
import { expect, it } from 'vitest';
import { equalTenancy, shareOf } from '../../../src/domain/tenancy.ts';
import { createRig, RESULT } from '../rigs/rig.ts';

const capped = (maxInflightJobs: number) => equalTenancy({ maxInflightJobs, maxWaiting: 50 });

it('a growing cap serves the jobs that wait for it', async () => {
  let instances = 2;
  const tenancy = { ...capped(40), share: (limit: number) => shareOf(limit, instances) };
  const rig = createRig({ tenancy });
  await rig.addNode('node-a', 100);
  const sent = Array.from({ length: 40 }, () => rig.service.dispatch(rig.request({ waitMs: 5_000 })));
  await rig.clock.advance(1_000);
  expect(rig.service.waiting()).toBe(20);
  instances = 1;
  await rig.clock.advance(300);
  expect(rig.service.waiting()).toBe(0);
  for (const each of sent) expect((await each).kind).toBe('dispatched');
});

it('jobs dropped together reserve no slots for each other', async () => {
  const rig = createRig({ tenancy: capped(1) });
  await rig.addNode('node-a', 5);
  await rig.dispatch({ tenantId: 't1' });
  void rig.service.dispatch(rig.request({ tenantId: 't1', waitMs: 5_000 }));
  await rig.clock.advance(10);
  expect(rig.service.waiting()).toBe(1);
  rig.service.dropAll();
  await rig.clock.advance(10);
  expect(await rig.used('node-a')).toBe(1);
  expect(rig.service.tenants()).toEqual({ inflight: 0, waiting: 0 });
});

it('a quota unit held during a lookup is passed on', async () => {
  const rig = createRig({
    tenancy: capped(1),
    wrapStore: (store, clock) => ({
      ...store,
      async bound(tenantId, requestId) {
        await new Promise<void>((resolve) => clock.after(100, resolve));
        return store.bound(tenantId, requestId);
      },
    }),
  });
  await rig.addNode('node-a', 1);
  const other = await rig.dispatch({ tenantId: 't2' });
  const waiting = rig.service.dispatch(rig.request({ tenantId: 't1', waitMs: 5_000 }));
  await rig.clock.advance(1);
  const claiming = { tenantId: 't1', waitMs: 5_000, requestId: 'r', fingerprint: 'f' };
  void rig.service.dispatch(rig.request(claiming));
  await rig.clock.advance(50);
  await rig.service.finish(rig.last(other.jobId), RESULT);
  await rig.clock.advance(60);
  expect(await Promise.race([waiting, Promise.resolve('still waiting')])).toMatchObject({
    kind: 'dispatched',
  });
});
