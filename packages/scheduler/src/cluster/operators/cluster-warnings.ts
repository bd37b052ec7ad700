/** Cold path: warnings for operators, with what to do. Pure. */
import type { ClusterView, InstanceLine } from './cluster-view.ts';

/** A reader empties a busy inbox in milliseconds: this many messages mean that it is too slow. */
const MANY_MESSAGES = 1_000;

export function clusterWarnings({
  store,
  instances,
  orphans,
}: Pick<ClusterView, 'store' | 'instances' | 'orphans'>): string[] {
  const dead = instances.filter(({ state }) => state === 'dead');
  const unknown = instances.filter(({ state }) => state === 'unknown');
  const crowded = instances.filter(({ inbox }) => (inbox?.messages ?? 0) >= MANY_MESSAGES);
  const messages = instances.reduce((sum, { inbox }) => sum + (inbox?.dead ?? 0), 0);
  const left = orphans.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  return [
    ...(store.isOk
      ? []
      : [
          `Redis does not answer${store.detail === undefined ? '' : `: ${store.detail}`}; new work is refused`,
        ]),
    ...dead.map(({ instanceId }) => `${instanceId} is dead and waits for a takeover by a survivor`),
    ...(unknown.length === 0 ? [] : [`no answer in time about ${names(unknown)}: their Redis shard is slow`]),
    ...crowded.map(
      ({ instanceId, inbox }) =>
        `${inbox?.messages} messages wait in the inbox of ${instanceId}: it is too slow, or frozen`,
    ),
    ...versionsDiffer(instances),
    ...poolsDiffer(instances),
    ...deadLetters(messages + left, left),
  ];
}

function versionsDiffer(instances: readonly InstanceLine[]): string[] {
  const versions = new Set(instances.flatMap(({ instance }) => instance?.version ?? []));
  return versions.size < 2
    ? []
    : [`versions differ: ${[...versions].sort().join(', ')}; expected only during a rolling restart`];
}

/** Each instance reads its own file: until all files are equal, a tenant may be in different pools on different instances. */
function poolsDiffer(instances: readonly InstanceLine[]): string[] {
  const alike = new Map<string, InstanceLine[]>();
  for (const line of instances) {
    if (line.figures === undefined || line.state === 'dead') continue;
    const pools = line.figures.pools ?? 'none';
    alike.set(pools, [...(alike.get(pools) ?? []), line]);
  }
  if (alike.size < 2) return [];
  const who = [...alike].map(([pools, lines]) => `${pools} on ${someNames(lines)}`).join('; ');
  return [`pools differ: ${who}; give all of them the same configuration and reload it (SIGHUP)`];
}

const SHOWN = 5;
const someNames = (lines: readonly InstanceLine[]): string =>
  names(lines.slice(0, SHOWN)) + (lines.length > SHOWN ? ` and ${lines.length - SHOWN} more` : '');

function deadLetters(all: number, left: number): string[] {
  if (all === 0) return [];
  const whose = left === 0 ? '' : `, ${left} of removed instances`;
  return all === 1
    ? [`1 dead letter${whose}: look at it with "lingua dlq list"`]
    : [`${all} dead letters${whose}: look at them with "lingua dlq list"`];
}

const names = (lines: readonly InstanceLine[]): string =>
  lines.map(({ instanceId }) => instanceId).join(', ');
