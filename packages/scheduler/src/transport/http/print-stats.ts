/** Cold path: statistics in the protocol's words, as text. Printed once per snapshot and catalogue, not once per request. */
import type { LanguageUsage, NodePowerDetail, CatalogueService as WireService } from '@lingua/protocol';
import type { CatalogueService } from '../../management/catalogue/read-services.ts';
import type { StatsReading } from '../../management/stats/stats-desk.ts';
import { type Counts, OTHER, type StatsPart } from '../../management/stats/stats-part.ts';
import { given } from '../wire/given.ts';

const MOST_TOP_LANGUAGES = 10;

type Snapshot = Extract<StatsReading, { kind: 'snapshot' }>;

export interface StatsPrinter {
  print(snapshot: Snapshot, services: readonly CatalogueService[]): Buffer;
}

export function createStatsPrinter(): StatsPrinter {
  const bodies = memoLast((stats: StatsPart, services: string) => Buffer.from(printBody(stats, services)));
  const catalogue = memoLast((services: readonly CatalogueService[]) => printServices(services));

  return {
    print({ stats, updatedAt, ageMs, isStale }, services) {
      const snapshot = { updated_at_ms: updatedAt, age_ms: ageMs, stale: isStale };
      const end = `,"snapshot":${JSON.stringify(snapshot)}}`;
      return Buffer.concat([bodies(stats, catalogue(services)), Buffer.from(end)]);
    },
  };
}

/** Everything but the age of it, which differs from request to request; the last brace is left to that. */
function printBody(stats: StatsPart, services: string): string {
  const { connectedNodes, models, types, typesInUse, power, details } = stats;
  const counts = {
    connected_nodes: connectedNodes,
    model_node_counts: byName(models),
    service_node_counts: byName(stats.services),
    type_node_counts: byName(types),
    type_in_use_counts: byName(typesInUse),
  };
  const computePower = {
    total_cpu_power: round(power.cpu),
    total_gpu_power: round(power.gpu),
    total_memory_power: round(power.memory),
    node_power_details: details.map(viewPower),
  };
  const nodes = `${JSON.stringify(counts).slice(0, -1)},${services},"compute_power":${JSON.stringify(computePower)}}`;
  return `{"web_clients":${JSON.stringify(viewClients(stats))},"nodes":${nodes}`;
}

function viewClients({ activeUsers, languages }: StatsPart) {
  const usage = languages.map(([language, asSource, asTarget]): [string, LanguageUsage] => [
    language,
    { as_source: asSource, as_target: asTarget, total: asSource + asTarget },
  ]);
  return {
    active_users: activeUsers,
    top_languages: usage
      .filter(([language]) => language !== OTHER)
      .slice(0, MOST_TOP_LANGUAGES)
      .map(([language, { total }]) => ({ language, count: total })),
    language_usage: Object.fromEntries(usage),
  };
}

const printServices = (services: readonly CatalogueService[]): string =>
  `"available_services":${JSON.stringify(services.map(viewService))},"total_services":${services.length}`;

const viewService = ({ serviceId, name, latestVersion, variants }: CatalogueService): WireService => ({
  service_id: serviceId,
  name,
  latest_version: latestVersion,
  variants: variants.map(({ version, platform, artifact }) =>
    given({
      version,
      platform,
      artifact:
        artifact &&
        given({
          type: artifact.type,
          url: artifact.url,
          sha256: artifact.sha256,
          size_bytes: artifact.sizeBytes,
        }),
    }),
  ),
});

const viewPower = ({
  nodeId,
  cpu,
  gpu,
  memory,
  efficiencies,
}: StatsPart['details'][number]): NodePowerDetail =>
  given({
    node_id: nodeId,
    node_name: nodeId,
    cpu_power: round(cpu),
    gpu_power: round(gpu),
    memory_power: round(memory),
    service_efficiencies: efficiencies && Object.fromEntries(efficiencies),
  });

const byName = (counts: Counts): Record<string, number> => Object.fromEntries(counts);

/** Sums of hundredths do not come out even. */
const round = (power: number): number => Math.round(power * 1_000) / 1_000;

/** Remembers the last answer, for as long as it is asked the same. */
function memoLast<Args extends readonly unknown[], Result>(make: (...args: Args) => Result) {
  let last: { readonly args: Args; readonly result: Result } | undefined;
  return (...args: Args): Result => {
    if (last === undefined || last.args.some((arg, at) => arg !== args[at]))
      last = { args, result: make(...args) };
    return last.result;
  };
}
