/** Cold path: limits the reports of one node within a window of time. Bounded: with too many nodes the oldest entry is dropped. */
import type { NodeId } from '../../domain/ids.ts';

export function createNodeAllowance(limits: {
  readonly windowMs: number;
  readonly max: number;
  readonly maxNodes: number;
}) {
  const windows = new Map<NodeId, { readonly startedAt: number; count: number }>();

  return {
    allows(nodeId: NodeId, now: number): boolean {
      const known = windows.get(nodeId);
      if (known !== undefined && now - known.startedAt < limits.windowMs) {
        known.count += 1;
        return known.count <= limits.max;
      }
      windows.delete(nodeId);
      // The first entries are the oldest windows; most of them have ended.
      for (const [oldest, { startedAt }] of windows) {
        if (windows.size < limits.maxNodes && now - startedAt < limits.windowMs) break;
        windows.delete(oldest);
      }
      windows.set(nodeId, { startedAt: now, count: 1 });
      return true;
    },
    get size() {
      return windows.size;
    },
  };
}
