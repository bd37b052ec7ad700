/** Nodes that belong to one pool each, by a service that only they have, and the configuration of such pools. */
import type { NodeCapabilities } from '@lingua/sdk/node';
import { simulatedCapabilities } from '../../../src/cli/simulated-node/simulated-capabilities.ts';
import { type HeldJobs, holdJobs, joinSdkNode, OUTPUT } from './sdk-node.ts';

/** The whole pipeline, and the service that defines the pool. */
export function poolCapabilities(service: string): NodeCapabilities {
  const capabilities = simulatedCapabilities(['en', 'zh'], false);
  return {
    ...capabilities,
    installed_services: [
      ...(capabilities.installed_services ?? []),
      { service_id: service, version: '1', device: 'gpu', status: 'running' },
    ],
  };
}

/** A node that has `service` in addition to the pipeline; `isHeld`: its jobs wait for the test. */
export async function joinPooledNode(
  url: string,
  service: string,
  {
    slots = 1,
    isHeld = false,
    nodeId = `node-${service}`,
    token,
  }: { slots?: number; isHeld?: boolean; nodeId?: string; token?: string } = {},
): Promise<HeldJobs> {
  const held = holdJobs();
  if (!isHeld) held.finish(OUTPUT);
  await joinSdkNode({
    url,
    nodeId,
    ...(token !== undefined && { token }),
    maxConcurrentJobs: slots,
    onJob: held.onJob,
    capabilities: poolCapabilities(service),
  });
  return held;
}

export interface PoolLine {
  readonly id: number;
  readonly service: string;
  readonly isDedicated?: boolean;
}

export function poolsToml(
  pools: readonly PoolLine[],
  tenants: Readonly<Record<string, number>>,
  settings: Readonly<Record<string, string | number | boolean>> = {},
): string {
  return [
    '[scheduler.pools]',
    'enabled = true',
    ...Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    ...pools.flatMap(({ id, service, isDedicated = false }) => [
      '[[scheduler.pools.pools]]',
      `pool_id = ${id}`,
      `name = "${service}"`,
      `required_services = ["${service}"]`,
      `dedicated = ${isDedicated}`,
    ]),
    ...Object.entries(tenants).flatMap(([tenant, id]) => [
      '[[scheduler.pools.tenant_overrides]]',
      `tenant_id = "${tenant}"`,
      `pool_id = ${id}`,
    ]),
  ].join('\n');
}
