/** Simulation: when statistics are computed, from their metrics. Work that fails ends where the next begins. */
import type { Meter } from '../../../scheduler/dist/ports/meter.js';
import type { Recorder } from '../history.ts';

export function watchColdWork(meter: Meter, { record }: Recorder, instance: string): Meter {
  const what = `statistics of ${instance}`;
  return {
    ...meter,
    count(name, labels, by) {
      if (name === 'scheduler_stats_builds_total') record({ kind: 'cold_began', what });
      meter.count(name, labels, by);
    },
    observe(name, value, labels) {
      if (name === 'scheduler_stats_build_seconds') record({ kind: 'cold_ended', what });
      meter.observe(name, value, labels);
    },
  };
}
