/** Cold path: judges the resources in one heartbeat. Pure. */
import type { ResourceReport } from '../../domain/capability-report.ts';
import { ANY } from '../../domain/language.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { Thresholds } from '../settings.ts';

/** Why the node is unhealthy; undefined: it is healthy. */
export function findFault(
  profile: NodeProfile,
  resources: ResourceReport,
  requireGpu: boolean,
): string | undefined {
  if (requireGpu && !profile.hasGpu) return 'gpu_missing';
  if (profile.readyTypes !== ANY && profile.readyTypes.length === 0) return 'no_service_ready';
  if (!isSane(resources.gpuPercent) || !isSane(resources.gpuMemoryPercent)) return 'gpu_figures_invalid';
  return undefined;
}

export const isCalm = (resources: ResourceReport, limits: Thresholds): boolean =>
  isWithin(resources.cpuPercent, limits.cpuPercent) &&
  isWithin(resources.gpuPercent, limits.gpuPercent) &&
  isWithin(resources.memoryPercent, limits.memoryPercent);

/** Absent and negative figures are unknown; unknown figures count as healthy. */
const isWithin = (percent: number | undefined, limit: number): boolean =>
  percent === undefined || !(percent > limit);

const isSane = (percent: number | undefined): boolean => percent === undefined || percent <= 100;
