/** Where silence proves nothing, it does so for as long as any node may count as present: however often nodes beat, and by whatever chance. */
import { expect, it } from 'vitest';
import { managementSettings } from '../../../src/app/settings/settings-from-config.ts';
import { replicaSettings } from '../../../src/app/settings/shared-settings.ts';
import { configOf, type Settings } from '../../e2e/support/start-app.ts';
import { createFixture } from '../../management/registry-fixture.ts';
import { ownNode } from './node-replica-rig.ts';
import { openSheets } from './own-nodes-rig.ts';

/** As long as may be; nearer to 1 makes no difference. */
const LONGEST = 0.999_999;

const TRAITS = { features: [], gpuCount: 1, acceptsPublicJobs: true };
const RARE = {
  'scheduler.node_health.heartbeat_interval_seconds': 60,
  'scheduler.node_health.heartbeat_timeout_seconds': 180,
};

async function presenceOf(intervalMs: number): Promise<number> {
  const { clock, records, lives } = openSheets(LONGEST);
  records.keep(ownNode({ intervalMs }));
  await clock.advance(0);
  return lives.at(-1) ?? 0;
}

it.each<[string, Settings]>([
  ['by default', {}],
  ['with rare heartbeats', RARE],
  ['with frequent ones', { 'scheduler.node_health.heartbeat_interval_seconds': 1 }],
  ['with another age of staleness', { 'scheduler.heartbeat_stale_ms': 200_000 }],
  ['with a short one', { 'scheduler.heartbeat_stale_ms': 1_500 }],
])('lasts for the longest presence of a node, and no longer: %s', async (_, settings) => {
  const config = configOf(settings);
  const { registry, join, setChance } = createFixture(managementSettings(config));
  setChance(LONGEST);
  await join({ nodeId: 'sdk', traits: { ...TRAITS, supports: ['job_ack'] } });
  await join({ nodeId: 'in-the-field', traits: TRAITS });
  const intervals = ['sdk', 'in-the-field'].map((nodeId) => registry.get(nodeId)?.intervalMs ?? 0);
  const longest = Math.max(...(await Promise.all(intervals.map(presenceOf))));
  const { presenceMs } = replicaSettings(config);
  expect(presenceMs).toBeGreaterThanOrEqual(longest);
  expect(presenceMs).toBeLessThan(longest + 10);
});
