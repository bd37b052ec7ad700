/** Statistics of all instances, in the format that legacy dashboards read; and what tenants have used. */
import { type Static, Type } from 'typebox';
import {
  count,
  flag,
  id,
  label,
  list,
  map,
  measure,
  oneOf,
  optional,
  quantity,
  text,
} from '../shared/bounded.ts';
import { QuotaUse } from '../shared/quota.ts';

const nodeCounts = (description: string) =>
  map<number>(count('Nodes'), 501, `${description}; beyond 500 the rest is summed under "other"`);

export const LanguageUsage = Type.Object(
  {
    as_source: count('Connected sessions with it as source; "auto" is not counted'),
    as_target: count('Connected sessions with it as target'),
    total: count('Sum of both'),
  },
  { title: 'LanguageUsage', description: 'A two_way_auto session counts both of its languages as both' },
);
export type LanguageUsage = Static<typeof LanguageUsage>;

export const CatalogueArtifact = Type.Object(
  {
    type: optional(label('Kind of file')),
    url: optional(text('Address of the file', 2048)),
    sha256: optional(label('Checksum')),
    size_bytes: optional(quantity('Size')),
  },
  { title: 'CatalogueArtifact', description: 'The file to install' },
);

export const CatalogueService = Type.Object(
  {
    service_id: label('Service'),
    name: label('Display name'),
    latest_version: label('Newest version; may be empty'),
    variants: list(
      Type.Object({
        version: label('Version'),
        platform: label('Platform'),
        artifact: optional(CatalogueArtifact),
      }),
      64,
      'Its available variants',
    ),
  },
  { title: 'CatalogueService', description: 'A service of the ModelHub' },
);
export type CatalogueService = Static<typeof CatalogueService>;

export const NodePowerDetail = Type.Object(
  {
    node_id: label('Node'),
    node_name: label('The same as node_id: nodes have no other name'),
    cpu_power: measure('max(0, 50 − CPU %) × cores ÷ 100'),
    gpu_power: measure('max(0, 75 − GPU %) × GB of each GPU ÷ 100, together'),
    memory_power: measure('max(0, 75 − memory %) × GB ÷ 100'),
    service_efficiencies: optional(
      map<number>(measure('Efficiency'), 8, 'service_id to efficiency, as the node last reported it'),
    ),
  },
  { title: 'NodePowerDetail', description: 'Free computing power of a node' },
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
          'By language; beyond 200 the rest is summed under "other"',
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
        type_in_use_counts: nodeCounts('Of those, nodes that are running a job, by type'),
        available_services: list(
          CatalogueService,
          2_000,
          'Services of the ModelHub, as known to the answering instance at the snapshot',
        ),
        total_services: count('Number of these services'),
        compute_power: Type.Object(
          {
            total_cpu_power: measure('Sum over all online nodes'),
            total_gpu_power: measure('Sum over all online nodes'),
            total_memory_power: measure('Sum over all online nodes'),
            node_power_details: list(
              NodePowerDetail,
              500,
              'The 500 nodes with the most power; totals cover all nodes',
            ),
          },
          { description: 'Free computing power' },
        ),
      },
      { description: 'Nodes and their capabilities' },
    ),
    snapshot: Type.Object(
      {
        updated_at_ms: quantity('When the snapshot was taken (epoch ms)'),
        age_ms: quantity('Time since then'),
        stale: flag('Older than 10 s: counting is delayed, or the shared store is unavailable'),
      },
      { description: 'Age of these figures' },
    ),
  },
  {
    title: 'StatsReply',
    description:
      'Of all instances together. Before the first snapshot: 503 {"status":"stats_not_ready"} with Retry-After',
  },
);
export type StatsReply = Static<typeof StatsReply>;

export const StatsNotReady = Type.Object(
  { status: Type.Literal('stats_not_ready') },
  { title: 'StatsNotReady', description: 'There is no snapshot yet' },
);

export const USAGE_GROUPS = ['tenant', 'stage', 'language', 'hour', 'day'] as const;

/** The most rows in one reply; a request for more is refused. */
export const MOST_USAGE_ROWS = 50_000;

export const UsageQuery = Type.Object(
  {
    from: optional(text('Begin, as ISO 8601 (2026-11-01 or 2026-11-01T08:00Z); 24 hours ago if absent', 40)),
    to: optional(text('End, exclusive, as ISO 8601; now if absent', 40)),
    group_by: optional(
      text(
        `What each row is about, separated by commas: ${USAGE_GROUPS.join(', ')}. "stage,language" if absent`,
        64,
      ),
    ),
    tenant_id: optional(id('Only this tenant; for operators, who see all tenants if it is absent')),
    format: optional(
      oneOf(['json', 'csv'], 'Format of the reply; absent: as the Accept header says, else JSON'),
    ),
  },
  { title: 'UsageQuery', description: 'Which usage to sum up' },
);
export type UsageQuery = Static<typeof UsageQuery>;

export const UsageRow = Type.Object(
  {
    tenant_id: optional(id('Tenant')),
    stage: optional(label('asr, semantic, nmt or tts')),
    language: optional(label('Language of the stage; of nmt the pair, zh>en')),
    hour: optional(label('Begin of the hour (UTC)')),
    day: optional(label('Day (UTC)')),
    results: count('Accepted results of stages'),
    unmeasured: count('Of these, results whose amount of audio or voice is unknown'),
    audio_seconds: quantity('Audio that was recognised'),
    characters: count('Characters that were repaired, translated or spoken'),
    voice_seconds: quantity('Voice that was synthesised'),
  },
  { title: 'UsageRow', description: 'Sums of one group; only the fields of group_by are present' },
);
export type UsageRow = Static<typeof UsageRow>;

export const UsageReply = Type.Object(
  {
    from: label('Begin of the first hour (ISO 8601)'),
    to: label('End of the last hour (ISO 8601)'),
    rows: list(UsageRow, MOST_USAGE_ROWS, 'In the order of their groups'),
    quotas: optional(
      list(QuotaUse, 8, 'Quotas of the tenant and their use now; absent: of all tenants, or it has none'),
    ),
  },
  { title: 'UsageReply', description: 'What was used, in whole hours' },
);
export type UsageReply = Static<typeof UsageReply>;
