/** Statistics as text in the format of dashboards, printed once per snapshot. */
import { StatsReply, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import type { CatalogueService } from '../../../src/management/catalogue/read-services.ts';
import type { StatsPart } from '../../../src/management/stats/stats-part.ts';
import { completeStats, createPrintStats } from '../../../src/transport/http/views/print-stats.ts';
import { finish } from '../../management/stats/stats-fixture.ts';

const STATS: StatsPart = {
  activeUsers: 3,
  languages: [
    ['zh', 2, 1],
    ['en', 1, 1],
    ['other', 9, 9],
  ],
  connectedNodes: 2,
  models: [['m-1', 1]],
  services: [['__proto__', 2]],
  types: [['asr', 2]],
  typesInUse: [['asr', 1]],
  power: { cpu: 0.1 + 0.2, gpu: 8, memory: 32 },
  details: [
    { nodeId: 'a', cpu: 0.3, gpu: 8, memory: 32, efficiencies: [['asr-1', 4.5]] },
    { nodeId: 'b', cpu: 0, gpu: 0, memory: 0 },
  ],
};
const SERVICES: readonly CatalogueService[] = [
  {
    serviceId: 'asr-1',
    name: 'Größe "1"',
    latestVersion: '1.0',
    variants: [
      {
        version: '1.0',
        platform: 'linux-x64',
        artifact: { type: 'zip', url: '/x', sha256: 'ab', sizeBytes: 7 },
      },
      { version: '0.9', platform: 'linux-x64' },
    ],
  },
];
function print(stats: StatsPart, services: readonly CatalogueService[] = SERVICES): string {
  const body = finish(createPrintStats({ services: () => services })(stats));
  return completeStats({ kind: 'snapshot', body, updatedAt: 1_000, ageMs: 12, isStale: false }).toString(
    'utf8',
  );
}

describe('printed statistics', () => {
  it('printed statistics have the documented shape', () => {
    const text = print(STATS);
    const body = JSON.parse(text) as StatsReply;
    expect(validator(StatsReply)(body)).toMatchObject({ ok: true });
    expect(body).toMatchObject({
      web_clients: {
        active_users: 3,
        top_languages: [
          { language: 'zh', count: 3 },
          { language: 'en', count: 2 },
        ],
        language_usage: { zh: { as_source: 2, as_target: 1, total: 3 }, other: { total: 18 } },
      },
      nodes: {
        connected_nodes: 2,
        model_node_counts: { 'm-1': 1 },
        type_node_counts: { asr: 2 },
        type_in_use_counts: { asr: 1 },
        total_services: 1,
        available_services: [
          {
            service_id: 'asr-1',
            name: 'Größe "1"',
            latest_version: '1.0',
            variants: [
              {
                version: '1.0',
                platform: 'linux-x64',
                artifact: { type: 'zip', url: '/x', sha256: 'ab', size_bytes: 7 },
              },
              { version: '0.9', platform: 'linux-x64' },
            ],
          },
        ],
        compute_power: {
          total_cpu_power: 0.3,
          total_gpu_power: 8,
          total_memory_power: 32,
          node_power_details: [
            { node_id: 'a', node_name: 'a', cpu_power: 0.3, service_efficiencies: { 'asr-1': 4.5 } },
            { node_id: 'b', cpu_power: 0 },
          ],
        },
      },
      snapshot: { updated_at_ms: 1_000, age_ms: 12, stale: false },
    });
    expect(text).toContain('"service_node_counts":{"__proto__":2}');
  });

  it('at most ten languages are listed as top languages', () => {
    const languages = Array.from({ length: 30 }, (_, at) => [`l-${at}`, 30 - at, 0] as const);
    const text = print({ ...STATS, languages });
    const { top_languages: top } = (JSON.parse(text) as StatsReply).web_clients;
    expect(top).toHaveLength(10);
    expect(top[0]).toEqual({ language: 'l-0', count: 30 });
  });

  it('every node and service is printed once, in any number of pieces', () => {
    const details = Array.from({ length: 350 }, (_, at) => ({
      nodeId: `n-${at}`,
      cpu: at,
      gpu: 0,
      memory: 0,
    }));
    const services = Array.from({ length: 201 }, (_, at) => ({
      serviceId: `s-${at}`,
      name: '',
      latestVersion: '',
      variants: [],
    }));
    const { nodes } = JSON.parse(print({ ...STATS, details }, services)) as StatsReply;
    expect(nodes.compute_power.node_power_details.map(({ node_id }) => node_id)).toEqual(
      details.map(({ nodeId }) => nodeId),
    );
    expect(nodes.available_services.map(({ service_id }) => service_id)).toEqual(
      services.map(({ serviceId }) => serviceId),
    );
    expect(JSON.parse(print({ ...STATS, details: [] }, []))).toMatchObject({
      nodes: { available_services: [], compute_power: { node_power_details: [] } },
    });
  });

  it('I6: printing yields between pieces and reuses the printed catalogue', () => {
    const details = Array.from({ length: 500 }, (_, at) => ({
      nodeId: `n-${at}`,
      cpu: at,
      gpu: 0,
      memory: 0,
    }));
    const services = Array.from({ length: 2_000 }, () => SERVICES[0] as CatalogueService);
    const printStats = createPrintStats({ services: () => services });
    const piecesOf = () => [...printStats({ ...STATS, details })].length;
    expect(piecesOf()).toBe(2 + 5 + 20);
    expect(piecesOf()).toBe(2 + 5);
  });
});
