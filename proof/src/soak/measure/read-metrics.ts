/** Levels from what a scheduler prints for Prometheus: every gauge, so that a new one is watched automatically. Pure. */

/** What grows by its nature, is configured, is an estimate that follows every report of a node or falls slowly on purpose, or is no amount. */
const NO_LEVELS =
  /(_age_seconds|_ratio|_delay_seconds|_pause_ms|^scheduler_limit|^scheduler_hub_up|^scheduler_declared_bytes|^scheduler_pool_wanted_nodes)$/;

/** By name, summed over labels. */
export function levelsOf(text: string): Map<string, number> {
  const levels = new Map<string, number>();
  const gauges = new Set<string>();
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) gauge$/.exec(line)?.[1];
    if (type !== undefined && !NO_LEVELS.test(type)) gauges.add(type);
    const [, name = '', value = ''] = /^([a-z0-9_]+)(?:\{.*\})? (\S+)$/i.exec(line) ?? [];
    if (gauges.has(name)) levels.set(name, (levels.get(name) ?? 0) + Number(value));
  }
  return levels;
}
