/** Statistics of all instances, as dashboards legacy read them. */
import { type Static, Type } from 'typebox';
import { count, flag, label, list, map, measure, optional, quantity, text } from '../shared/bounded.ts';

const nodeCounts = (description: string) =>
  map<number>(count('Nodes'), 501, `${description}; beyond 500 the rest is together under "other"`);

export const LanguageUsage = Type.Object(
  {
    as_source: count('Connected sessions that speak it; a source of "auto" is not counted'),
    as_target: count('Connected sessions that hear it'),
    total: count('Both together'),
  },
  { title: 'LanguageUsage', description: 'A two_way_auto session has both of its languages as both' },
);
export type LanguageUsage = Static<typeof LanguageUsage>;

export const CatalogueArtifact = Type.Object(
  {
    type: optional(label('Kind of file')),
    url: optional(text('Where it is', 2048)),
    sha256: optional(label('Checksum')),
    size_bytes: optional(quantity('Size')),
  },
  { title: 'CatalogueArtifact', description: 'What is to be installed' },
);

export const CatalogueService = Type.Object(
  {
    service_id: label('Service'),
    name: label('Name for people'),
    latest_version: label('Newest version; may be empty'),
    variants: list(
      Type.Object({
        version: label('Version'),
        platform: label('Platform'),
        artifact: optional(CatalogueArtifact),
      }),
      64,
      'What there is of it',
    ),
  },
  { title: 'CatalogueService', description: 'A service of the ModelHub' },
);
export type CatalogueService = Static<typeof CatalogueService>;

export const NodePowerDetail = Type.Object(
  {
    node_id: label('Node'),
    node_name: label('The same: nodes have no other name'),
    cpu_power: measure('max(0, 50 − CPU %) × cores ÷ 100'),
    gpu_power: measure('max(0, 75 − GPU %) × GB of each GPU ÷ 100, together'),
    memory_power: measure('max(0, 75 − memory %) × GB ÷ 100'),
    service_efficiencies: optional(
      map<number>(measure('Efficiency'), 8, 'service_id to efficiency, as the node last reported it'),
    ),
  },
  { title: 'NodePowerDetail', description: 'What a node has free' },
);
export type NodePowerDetail = Static<typeof NodePowerDetail>;

export const StatsReply = Type.Object(
  {
    web_clients: Type.Object(
      {
        active_users: count('Connected sessions'),
        top_languages: list(
          Type.Object({ language: label('Language'), count: count('Its total') }),
          10,
          'Most used first',
        ),
        language_usage: map<LanguageUsage>(
          LanguageUsage,
          201,
          'By language; beyond 200 the rest is together under "other"',
        ),
      },
      { description: 'Sessions and their languages' },
    ),
    nodes: Type.Object(
      {
        connected_nodes: count('Nodes that are online'),
        model_node_counts: nodeCounts('Nodes that can use a model, by model'),
        service_node_counts: nodeCounts('Nodes on which a service is ready, by service'),
        type_node_counts: nodeCounts('Nodes on which a type of service is ready, by type'),
        type_in_use_counts: nodeCounts('Of those, nodes that work on a job, by type'),
        available_services: list(
          CatalogueService,
          2_000,
          'Services of the ModelHub, as the answering instance knew them when it took the snapshot',
        ),
        total_services: count('Of them'),
        compute_power: Type.Object(
          {
            total_cpu_power: measure('Of all nodes that are online'),
            total_gpu_power: measure('Of all nodes that are online'),
            total_memory_power: measure('Of all nodes that are online'),
            node_power_details: list(NodePowerDetail, 500, 'The 500 nodes that have most; totals are of all'),
          },
          { description: 'What nodes have free' },
        ),
      },
      { description: 'Nodes and what they can do' },
    ),
    snapshot: Type.Object(
      {
        updated_at_ms: quantity('When these figures were put together (epoch ms)'),
        age_ms: quantity('Time since then'),
        stale: flag('Older than 10 s: counting is delayed, or the store of the instances is away'),
      },
      { description: 'How old these figures are' },
    ),
  },
  {
    title: 'StatsReply',
    description:
      'Of all instances together. Before the first snapshot: 503 {"status":"stats_not_ready"} with Retry-After',
  },
);
export type StatsReply = Static<typeof StatsReply>;
