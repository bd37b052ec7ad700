/** Reloading capability pools: in short pieces, only the pools, and waiting jobs are tried again. */
import { describe, expect, it } from 'vitest';
import { createConfiguredPools } from '../../../src/app/pools.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { poolsToml } from '../../e2e/support/pooled-nodes.ts';
import { configOf } from '../../e2e/support/start-app.ts';
import { nodeView } from '../fleet/fleet-fixture.ts';
import { having } from './pool-fixture.ts';

const POOLS = [
  { id: 1, service: 'gold' },
  { id: 2, service: 'silver' },
];
const CORE = { 'scheduler.core_services.asr_service_id': 'whisper' };

/** Every read of the clock advances it by one millisecond. */
function rig(nodes: number, next: { tenants?: Record<string, number>; settings?: Record<string, string> }) {
  let at = 0;
  let pauses = 0;
  const clock = {
    now: () => at,
    precise: () => ++at,
    after(_delayMs: number, run: () => void) {
      pauses += 1;
      queueMicrotask(run);
      return () => {};
    },
  };
  const ignored = () => {};
  const fleet = createFleetView();
  const reported: string[] = [];
  for (let n = 0; n < nodes; n++) {
    fleet.upsert(nodeView(`n${n}`, { profile: having('gold'), slots: n % 2 }));
  }
  fleet.onFree((nodeId) => reported.push(nodeId));
  const config = configOf({}, poolsToml(POOLS, {}));
  const reread = async () =>
    ({
      kind: 'ok',
      config: configOf(next.settings ?? {}, poolsToml(POOLS, next.tenants ?? {})),
      origins: new Map(),
      warnings: [{ key: 'a.key', message: 'is odd', origin: { kind: 'default' } }],
    }) as const;
  const warned: unknown[] = [];
  const warn = (fields: unknown) => void warned.push(fields);
  const log = { debug: ignored, info: ignored, warn, error: ignored };
  const meter = { count: ignored, gauge: ignored, observe: ignored };
  const pools = createConfiguredPools({ config, fleet, clock, meter, log, reread });
  return { pools, fleet, reported, warned, pauses: () => pauses };
}

describe('a change of pools', () => {
  it('pauses by the clock, whatever one node costs', async () => {
    const { pools, pauses } = rig(400, { tenants: { acme: 1 } });
    await pools.reload();
    // 50 pieces of 8 nodes, placed and reported, with a pause after every second one.
    expect(pauses()).toBeGreaterThanOrEqual(45);
  });

  it('reports every free node, so waiting jobs are tried again', async () => {
    const { pools, reported } = rig(20, { tenants: { acme: 1 } });
    await pools.reload();
    expect(reported).toEqual(Array.from({ length: 10 }, (_, n) => `n${2 * n + 1}`));
  });

  it('logs the configuration warnings, as at the start', async () => {
    const { pools, warned } = rig(1, {});
    await pools.reload();
    expect(warned).toEqual([{ warning: expect.stringContaining('a.key') }]);
  });

  it('reports no node when nothing changes', async () => {
    const { pools, reported } = rig(20, {});
    expect(await pools.reload()).toMatchObject({ hasChanged: false });
    expect(reported).toEqual([]);
  });

  it('does not apply core services that need a restart', async () => {
    const { pools, fleet } = rig(1, { tenants: { acme: 1 }, settings: CORE });
    expect(await pools.reload()).toMatchObject({ needRestart: Object.keys(CORE), hasChanged: true });
    expect(fleet.pools?.plan.tenantPools.get('acme')).toBe(1);
    expect(fleet.pools?.plan.core).toEqual({});
  });
});
