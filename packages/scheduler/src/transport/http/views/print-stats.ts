/**
 * Cold path: prints statistics in the format of the protocol. Printed once per snapshot, in pieces, so that no job
 * waits for it (I6).
 */
import type { LanguageUsage, NodePowerDetail, CatalogueService as WireService } from '@lingua/protocol';
import type { CatalogueService } from '../../../management/catalogue/read-services.ts';
import { type Counts, OTHER, type StatsPart } from '../../../management/stats/stats-part.ts';
import type { StatsReading } from '../../../management/stats/stats-service.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

const MAX_TOP_LANGUAGES = 10;
const DETAILS_AT_ONCE = 100;
const SERVICES_AT_ONCE = 100;

/** Prints everything but the age of the snapshot, which differs per request; the closing brace is added with it. */
export type PrintStats = (stats: StatsPart) => Generator<void, Buffer>;

export function createPrintStats(deps: { readonly services: () => readonly CatalogueService[] }): PrintStats {
  let printed: { readonly services: readonly CatalogueService[]; readonly text: string } | undefined;

  /** Printed again only when the catalogue changes. */
  function* catalogue(): Generator<void, string> {
    const services = deps.services();
    if (printed?.services !== services) {
      const list = yield* printList(services, viewService, SERVICES_AT_ONCE);
      printed = { services, text: `"available_services":${list},"total_services":${services.length}` };
    }
    return printed.text;
  }

  return function* printStats(stats) {
    const clients = JSON.stringify(viewClients(stats));
    yield;
    const counts = JSON.stringify(viewCounts(stats));
    yield;
    const services = yield* catalogue();
    const details = yield* printList(stats.details, viewPower, DETAILS_AT_ONCE);
    const totals = JSON.stringify(viewTotals(stats));
    const power = `${totals.slice(0, -1)},"node_power_details":${details}}`;
    const nodes = `${counts.slice(0, -1)},${services},"compute_power":${power}}`;
    return Buffer.from(`{"web_clients":${clients},"nodes":${nodes}`);
  };
}

/** Adds the fields of one request to the printed snapshot. Must be cheap. */
export function completeStats({
  body,
  updatedAt,
  ageMs,
  isStale,
}: Extract<StatsReading, { kind: 'snapshot' }>): Buffer {
  const snapshot = { updated_at_ms: updatedAt, age_ms: ageMs, stale: isStale };
  return Buffer.concat([body, Buffer.from(`,"snapshot":${JSON.stringify(snapshot)}}`)]);
}

function* printList<T>(
  items: readonly T[],
  view: (item: T) => object,
  atOnce: number,
): Generator<void, string> {
  const pieces: string[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    pieces.push(JSON.stringify(items.slice(at, at + atOnce).map(view)).slice(1, -1));
    yield;
  }
  return `[${pieces.join(',')}]`;
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
      .slice(0, MAX_TOP_LANGUAGES)
      .map(([language, { total }]) => ({ language, count: total })),
    language_usage: Object.fromEntries(usage),
  };
}

const viewCounts = ({ connectedNodes, models, services, types, typesInUse }: StatsPart) => ({
  connected_nodes: connectedNodes,
  model_node_counts: byName(models),
  service_node_counts: byName(services),
  type_node_counts: byName(types),
  type_in_use_counts: byName(typesInUse),
});

const viewTotals = ({ power }: StatsPart) => ({
  total_cpu_power: round(power.cpu),
  total_gpu_power: round(power.gpu),
  total_memory_power: round(power.memory),
});

const viewService = ({ serviceId, name, latestVersion, variants }: CatalogueService): WireService => ({
  service_id: serviceId,
  name,
  latest_version: latestVersion,
  variants: variants.map(({ version, platform, artifact }) =>
    omitUndefined({
      version,
      platform,
      artifact:
        artifact &&
        omitUndefined({
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
  omitUndefined({
    node_id: nodeId,
    node_name: nodeId,
    cpu_power: round(cpu),
    gpu_power: round(gpu),
    memory_power: round(memory),
    service_efficiencies: efficiencies && Object.fromEntries(efficiencies),
  });

const byName = (counts: Counts): Record<string, number> => Object.fromEntries(counts);

/** Sums of hundredths are inexact. */
const round = (power: number): number => Math.round(power * 1_000) / 1_000;
