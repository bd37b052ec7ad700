/** Composition root: the limits of what is measured, told once, so that alarms can ask how full something is. */
import type { Config } from '../config/settings.ts';
import { METRICS, type MetricEntry } from '../domain/metrics.ts';
import type { Meter } from '../ports/meter.ts';

/** Of every level in the metrics table, the settings that bound it. */
export function tellLimits(meter: Pick<Meter, 'gauge'>, config: Config): void {
  for (const { kind, limits = [] } of Object.values<MetricEntry>(METRICS)) {
    if (kind !== 'gauge') continue;
    for (const setting of limits) {
      const value = valueAt(config, setting);
      if (typeof value === 'number') meter.gauge('scheduler_limit', value, { setting });
    }
  }
}

const valueAt = (config: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (table, name) =>
        typeof table === 'object' && table !== null
          ? (table as Readonly<Record<string, unknown>>)[name]
          : undefined,
      config,
    );
