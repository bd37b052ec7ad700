/** Builds the node_heartbeat message: the load of the node, and its changed capabilities. */
import type { NodeHeartbeat, ResourceUsage } from '@lingua/protocol';
import { createMachineMeter, type MachineUsage } from './machine-usage.ts';
import type { NodeCapabilities, NodeLog, NodeOptions } from './node-options.ts';

export interface HeartbeatFacts {
  readonly nodeId: string;
  readonly isDraining: boolean;
  /** When it stops (epoch ms); absent: it stays. */
  readonly leavingAt: number | undefined;
  readonly running: readonly string[];
  /** Finished jobs with unsent results: the scheduler must not give them to another node. */
  readonly unsent: readonly string[];
}

export interface HeartbeatMessage {
  /** For a registration; heartbeats then send only changes to it. */
  capabilities(): NodeCapabilities;
  next(facts: HeartbeatFacts): NodeHeartbeat;
}

/** The protocol's limit. */
const LONGEST_NOTICE_MS = 86_400_000;

/** The capabilities that heartbeats may change. */
type Report = Pick<
  NodeHeartbeat,
  | 'installed_models'
  | 'installed_services'
  | 'capability_by_type'
  | 'capability_state'
  | 'language_capabilities'
>;

export function createHeartbeatMessage(
  options: Pick<NodeOptions, 'capabilities' | 'resources'>,
  log: NodeLog,
): HeartbeatMessage {
  let meter: (() => MachineUsage) | undefined;
  let capabilities: NodeCapabilities = {};
  let lastSent = '';

  function ask(): void {
    try {
      capabilities =
        typeof options.capabilities === 'function' ? options.capabilities() : options.capabilities;
    } catch (error) {
      log.error({ error }, 'the capabilities callback failed; the last values remain');
    }
  }

  function changes(): Report {
    if (typeof options.capabilities !== 'function') return {};
    ask();
    const report = reportOf(capabilities);
    const text = JSON.stringify(report);
    if (text === lastSent) return {};
    lastSent = text;
    return report;
  }

  function usage(running: number): ResourceUsage {
    try {
      if (options.resources !== undefined) return { running_jobs: running, ...options.resources() };
    } catch (error) {
      log.error({ error }, 'the resources callback failed; those of the machine are sent');
    }
    // Reading all processors has a cost, so nodes with their own meter skip it.
    meter ??= createMachineMeter();
    return { running_jobs: running, ...meter() };
  }

  return {
    capabilities() {
      ask();
      lastSent = JSON.stringify(reportOf(capabilities));
      return capabilities;
    },
    next(facts) {
      const report = changes();
      const now = Date.now();
      return {
        type: 'node_heartbeat',
        node_id: facts.nodeId,
        timestamp: now,
        resource_usage: usage(facts.running.length),
        running_job_ids: [...new Set([...facts.running, ...facts.unsent])],
        health: facts.isDraining ? 'draining' : 'ready',
        ...(facts.leavingAt !== undefined && {
          leaving_in_ms: Math.min(LONGEST_NOTICE_MS, Math.max(0, Math.round(facts.leavingAt - now))),
        }),
        ...report,
      };
    },
  };
}

/** Copies the present parts; an absent part keeps its last value at the scheduler. */
function reportOf(capabilities: NodeCapabilities): Report {
  const report: Report = {};
  const {
    installed_models,
    installed_services,
    capability_by_type,
    capability_state,
    language_capabilities,
  } = capabilities;
  if (installed_models !== undefined) report.installed_models = installed_models;
  if (installed_services !== undefined) report.installed_services = installed_services;
  if (capability_by_type !== undefined) report.capability_by_type = capability_by_type;
  if (capability_state !== undefined) report.capability_state = capability_state;
  if (language_capabilities !== undefined) report.language_capabilities = language_capabilities;
  return report;
}
