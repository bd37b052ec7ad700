/**
 * Background actor: handles MODEL_NOT_AVAILABLE reports of nodes. The hot path only puts a report into a bounded queue. The actor takes a
 * few at a time, limits them per node, and marks the service or forwards the report to the holder of the node.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Locks } from '../../ports/locks.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { NodeRegistry } from '../node-registry.ts';
import { isMissingModel, type MissingModel, readModelReport } from './model-report.ts';
import { createNodeAllowance } from './node-allowance.ts';
import { createWithdrawals } from './withdrawals.ts';

export interface ModelReportSettings {
  readonly debounceMs: number;
  readonly limitWindowMs: number;
  /** Reports of one node within that time. */
  readonly limitMax: number;
}

export interface ModelReports {
  /** Hot path: a report of an attempt that this instance drives. Returns at once. */
  report(nodeId: NodeId, details: Readonly<Record<string, unknown>>): void;
  /** A report about a node of this instance, forwarded by the driver of the attempt. */
  hear(nodeId: NodeId, missing: Readonly<Record<keyof MissingModel, unknown>>): void;
  levels(): { readonly queue: number; readonly nodes: number; readonly versions: number };
}

interface Entry {
  readonly nodeId: NodeId;
  readonly missing: MissingModel;
  /** Sent by the node itself, and not forwarded by another instance. */
  readonly isFirstHand: boolean;
}

/** So many are handled within a second; more of them would repeat the same content. */
export const MAX_QUEUED = 4_096;
/** Handled without a pause, unless nodes with thousands of services make it slow (I6). */
export const MAX_AT_ONCE = 32;
const SLICE_MS = 2;
const PAUSE_MS = 5;
const MAX_NODES = 10_000;
const MAX_VERSIONS = 10_000;

export function createModelReports(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly registry: Pick<NodeRegistry, 'markMissing'>;
  /** False: the node belongs to this instance, or to none. */
  readonly passOn: (nodeId: NodeId, missing: MissingModel) => boolean;
  readonly locks: Locks;
  readonly withdrawn: (serviceId: string, version: string) => void;
  readonly settings: ModelReportSettings;
}): ModelReports {
  const { clock, log, meter, registry, settings } = deps;
  const queue: Entry[] = [];
  const allowance = createNodeAllowance({
    windowMs: settings.limitWindowMs,
    max: settings.limitMax,
    maxNodes: MAX_NODES,
  });
  const withdrawals = createWithdrawals({ ...deps, windowMs: settings.debounceMs, maxKnown: MAX_VERSIONS });
  let isAwake = false;

  const drop = (reason: string): void => meter.count('scheduler_model_na_dropped_total', { reason });

  function push(entry: Entry): void {
    if (queue.length >= MAX_QUEUED) {
      drop('queue_full');
      return;
    }
    queue.push(entry);
    if (isAwake) return;
    isAwake = true;
    clock.after(0, work);
  }

  function work(): void {
    const until = clock.precise() + SLICE_MS;
    let taken = 0;
    for (const entry of queue) {
      if (taken === MAX_AT_ONCE || (taken > 0 && clock.precise() >= until)) break;
      taken += 1;
      try {
        handle(entry);
      } catch (fault) {
        log.error({ node_id: entry.nodeId, err: fault }, 'cannot handle a report of a missing model');
      }
    }
    queue.splice(0, taken);
    isAwake = queue.length > 0;
    if (isAwake) clock.after(PAUSE_MS, work);
  }

  function handle(entry: Entry): void {
    const { nodeId, missing, isFirstHand } = entry;
    if (isFirstHand) {
      meter.count('scheduler_model_na_received_total');
      meter.count('scheduler_model_na_by_service_total', { service_id: missing.serviceId });
      meter.count('scheduler_model_na_by_reason_total', { reason: missing.reason });
    }
    if (!allowance.allows(nodeId, clock.now())) {
      meter.count('scheduler_model_na_rate_limited_total');
      meter.count('scheduler_model_na_rate_limited_by_node_total', { node_id: nodeId });
      return;
    }
    if (!isFirstHand || !deps.passOn(nodeId, missing)) mark(nodeId, missing);
  }

  function mark(nodeId: NodeId, missing: MissingModel): void {
    const result = registry.markMissing(nodeId, missing.serviceId);
    if (result === 'unknown_node' || result === 'marks_full') drop(result);
    if (result === 'unknown_node') return;
    if (result === 'marked') {
      meter.count('scheduler_model_na_marked_total');
      meter.count('scheduler_model_na_marked_by_node_total', { node_id: nodeId });
      const label = { service_id: missing.serviceId };
      meter.gauge('scheduler_model_na_last_reaction_seconds', clock.now() / 1_000, label);
    }
    void withdrawals.notice(nodeId, missing);
  }

  return {
    report(nodeId, details) {
      // Read here, so that only the bounded result is kept of a report of any size.
      const read = readModelReport(details);
      if (read.kind === 'read') return push({ nodeId, missing: read.missing, isFirstHand: true });
      meter.count('scheduler_model_na_received_total');
      drop(read.reason);
    },
    hear(nodeId, missing) {
      if (isMissingModel(missing)) push({ nodeId, missing, isFirstHand: false });
      else drop('unreadable_news');
    },
    levels: () => ({ queue: queue.length, nodes: allowance.size, versions: withdrawals.size }),
  };
}
