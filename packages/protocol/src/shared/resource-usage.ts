/** The load of a node, as it reports it. */
import { type Static, Type } from 'typebox';
import { count, optional, quantity } from './bounded.ts';

/** Meters report −1 for "unknown", and sums over cores exceed 100: neither may invalidate the heartbeat. */
const percent = (of: string) =>
  quantity(`${of} in percent, 0 to 100; -1 if unknown`, { minimum: -1, maximum: 1_000_000 });

export const ResourceUsage = Type.Object(
  {
    cpu_percent: percent('CPU use'),
    gpu_percent: optional(percent('GPU use')),
    gpu_mem_percent: optional(percent('GPU memory use')),
    mem_percent: percent('Main memory use'),
    running_jobs: count('Jobs the node is working on'),
    gpu_queue_length: optional(count('Work waiting for the GPU; above 0 the node is chosen last')),
  },
  { title: 'ResourceUsage', description: 'Load of the node' },
);
export type ResourceUsage = Static<typeof ResourceUsage>;
