/** After a start or an outage, removals are held off for the longest TTL of a node record, for any heartbeat interval. */
import { expect, it } from 'vitest';
import { managementSettings } from '../../../src/app/settings/settings-from-config.ts';
import { replicaSettings } from '../../../src/app/settings/shared-settings.ts';
import { configOf, type Settings } from '../../e2e/support/start-app.ts';
import { createFixture } from '../../management/registry-fixture.ts';
import { ownNode } from './node-replica-rig.ts';
import { createPublisher } from './own-nodes-rig.ts';

/** The highest value of chance; nearer to 1 makes no difference. */
const LONGEST = 0.999_999;

const TRAITS = { features: [], gpuCount: 1 };
const RARE = {
  'scheduler.node_health.heartbeat_interval_seconds': 60,
  'scheduler.node_health.heartbeat_timeout_seconds': 180,
};

async function presenceOf(intervalMs: number): Promise<number> {
  const { clock, records, ttls } = createPublisher(LONGEST);
  records.keep(ownNode({ intervalMs }));
  await clock.advance(0);
  return ttls.at(-1) ?? 0;
}

it.each<[string, Settings]>([
  ['by default', {}],
  ['with rare heartbeats', RARE],
  ['with frequent heartbeats', { 'scheduler.node_health.heartbeat_interval_seconds': 1 }],
  ['with a long staleness limit', { 'scheduler.heartbeat_stale_ms': 200_000 }],
  ['with a short staleness limit', { 'scheduler.heartbeat_stale_ms': 1_500 }],
])('removals are held off for the longest TTL of a record: %s', async (_, settings) => {
  const config = configOf(settings);
  const { registry, join } = createFixture(managementSettings(config));
  await join({ nodeId: 'sdk', traits: { ...TRAITS, supports: ['job_ack'] } });
  await join({ nodeId: 'legacy', traits: TRAITS });
  const intervals = ['sdk', 'legacy'].map((nodeId) => registry.get(nodeId)?.intervalMs ?? 0);
  const longest = Math.max(...(await Promise.all(intervals.map(presenceOf))));
  const { presenceMs } = replicaSettings(config);
  expect(presenceMs).toBeGreaterThanOrEqual(longest);
  expect(presenceMs).toBeLessThan(longest + 10);
});
