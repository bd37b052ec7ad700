/** Waiting jobs while pools divide the fleet: jobs that wait for one pool do not block jobs that wait for another. */
import { describe, expect, it } from 'vitest';
import { createPoolMap } from '../../../src/runtime/pools/pool-map.ts';
import { planOf, pool } from '../pools/pool-fixture.ts';
import { createRig, need, profile, RESULT } from '../rigs/rig.ts';

/** More equal waiters than one freed slot checks. */
const CROWD = 20;

async function twoPools(part: Parameters<typeof planOf>[1]) {
  const rig = createRig();
  const plan = planOf([pool(1, ['gold']), pool(2, ['silver'])], part);
  rig.fleet.changePools(createPoolMap(plan))(Number.POSITIVE_INFINITY);
  await rig.addNode('node-gold', 1, profile({ installedServices: ['gold'] }));
  await rig.addNode('node-silver', 1, profile({ installedServices: ['silver'] }));
  const dispatch = (preferredPoolId: number) =>
    rig.service.dispatch(rig.request({ waitMs: 8_000, need: need({ preferredPoolId }) }));
  return { rig, plan, dispatch };
}

describe('jobs that wait in pools', () => {
  it('are not blocked by equal jobs that wait for another pool', async () => {
    const { rig, dispatch } = await twoPools({ fallsBack: false });
    await dispatch(1);
    const busy = await rig.dispatch({ need: need({ preferredPoolId: 2 }) });
    for (let n = 0; n < CROWD; n++) void dispatch(1);
    const last = dispatch(2);
    await rig.clock.advance(100);
    await rig.service.finish(rig.last(busy.jobId), RESULT);
    await rig.clock.advance(100);
    expect(await Promise.race([last, 'waits'])).toMatchObject({ kind: 'dispatched' });
  });

  it('are served by the nodes of their new pool when pools change', async () => {
    const { rig, dispatch, plan } = await twoPools({
      isStrict: true,
      tenantPools: new Map([['default', 1]]),
    });
    await rig.addNode('node-wide', CROWD, profile({ installedServices: ['silver'] }));
    await dispatch(1);
    const waiting = Array.from({ length: CROWD }, () => dispatch(1));
    await rig.clock.advance(10);
    const moved = { ...plan, tenantPools: new Map([['default', 2]]) };
    rig.fleet.changePools(createPoolMap(moved))(Number.POSITIVE_INFINITY);
    rig.fleet.reportFree(0, Number.POSITIVE_INFINITY);
    await rig.clock.advance(10);
    expect(rig.service.waiting()).toBe(0);
    for (const outcome of await Promise.all(waiting)) expect(outcome.kind).toBe('dispatched');
  });
});
