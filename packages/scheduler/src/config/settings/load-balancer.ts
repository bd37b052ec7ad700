/** Settings of resource thresholds: above which use a node gets no more jobs. */
import { group, ignored, number } from '../setting.ts';

const threshold = (doc: string) =>
  number({
    default: 85,
    min: 1,
    max: 100,
    unit: 'percent',
    aliases: [{ key: 'scheduler.load_balancer.resource_threshold', isShorthand: true }],
    doc,
  });

export const loadBalancer = group(
  'Nodes above a threshold get no jobs. `resource_threshold` sets all three at once.',
  {
    cpu_threshold_percent: threshold('CPU use above which a node gets no jobs.'),
    gpu_threshold_percent: threshold('GPU use above which a node gets no jobs. An unknown figure passes.'),
    memory_threshold_percent: threshold('Memory use above which a node gets no jobs.'),
    strategy: ignored('Use scheduler.selection.policy.'),
  },
);
