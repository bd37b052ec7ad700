/** Cold path: handles a heartbeat. A heartbeat without changes costs a few comparisons and one call of the ledger. */
import type { CapabilityReport, Efficiencies } from '../../domain/capability-report.ts';
import type { LoadReport } from '../../ports/capacity-ledger.ts';
import type { Fleet, RegistryDeps } from '../fleet.ts';
import type { MarkKeeper } from '../marks/mark-keeper.ts';
import type { Heartbeat, HeartbeatOutcome } from '../node-registry.ts';
import { isConnected, type RegisteredNode } from '../registered-node.ts';
import { soundSlots } from '../registration/admission.ts';
import { isSame } from '../registration/is-same.ts';
import { excessOf, excessOfPairs } from '../registration/report-limits.ts';
import { reportProof } from '../registration/report-proof.ts';
import type { HealthInput } from './health.ts';
import { findFault } from './vitals.ts';

/** Limit per node; the first ones in the report count. */
const MAX_EFFICIENCIES = 8;

export function createHeartbeats(deps: RegistryDeps, fleet: Fleet, marks: Pick<MarkKeeper, 'claimed'>) {
  const { clock, events, ledger, log, meter, settings } = deps;

  /** A report that is too large is ignored; the last valid one stays in force. */
  function learn(node: RegisteredNode, parts: Partial<CapabilityReport>): void {
    if (repeats(node.report, parts)) return;
    const report = { ...node.report, ...parts };
    const excess = excessOf(report) ?? take(node, report);
    if (excess === undefined) return;
    log.warn({ node_id: node.nodeId, excess }, 'a report in a heartbeat was ignored');
  }

  /** Returns what exceeds the limits; then nothing changes. */
  function take(node: RegisteredNode, reported: CapabilityReport): string | undefined {
    const { identity } = node;
    const profile = fleet.profileOf(reported, identity.traits);
    const excess = excessOfPairs(profile);
    if (excess !== undefined) return excess;
    const report = fleet.shareReport(reported);
    const refused = fleet.declare(node.nodeId, { identity, report, profile });
    if (refused !== undefined) return refused.message;
    node.report = report;
    node.profile = profile;
    return undefined;
  }

  /** A failure of the ledger is no failure of the node: the heartbeat counts anyway. */
  async function reconcile(node: RegisteredNode, report: LoadReport): Promise<void> {
    try {
      const load = await ledger.reconcile(node.nodeId, report);
      if (fleet.nodes.get(node.nodeId) !== node) return;
      if (load !== undefined) return events.loaded(node.nodeId, load);
      node.declared = undefined; // the store has lost the node
      await fleet.publish(node);
      // Its running jobs take slots, even before their drivers have re-asserted the leases.
      await ledger.reconcile(node.nodeId, report);
    } catch (cause) {
      meter.count('scheduler_dependency_down_total');
      log.warn({ node_id: node.nodeId, err: cause }, 'cannot report a heartbeat to the ledger');
    }
  }

  return async function heartbeat(beat: Heartbeat): Promise<HeartbeatOutcome> {
    meter.count('scheduler_heartbeats_total');
    const node = fleet.nodes.get(beat.nodeId);
    if (node === undefined || node.isLeaving) return { kind: 'unknown_node' };
    if (beat.generation !== undefined && (beat.generation !== node.generation || !isConnected(node))) {
      return { kind: 'stale_generation' };
    }
    const isHomecoming = !isConnected(node);
    if (isHomecoming && !comeHome(node)) return { kind: 'unknown_node' };

    if (beat.report !== undefined) {
      const { report, profile } = node;
      learn(node, beat.report);
      marks.claimed(node, { report, profile });
    }
    if (!node.profile.isLegacy) node.slots = soundSlots(beat.slots, node.slots);
    node.resources = beat.resources;
    if (beat.efficiencies !== undefined) node.efficiencies = soundEfficiencies(beat.efficiencies);
    node.isFresh = true;
    node.leavingAt = leavingAtOf(node, beat, clock.now());
    const published = fleet.publish(node, fleet.move(node, inputOf(node, beat, settings.requireGpu)));
    if (isHomecoming) events.connected(node.nodeId, beat.runningJobIds);

    const { runningJobIds } = beat;
    const running = beat.resources.runningJobs;
    if (running > node.slots) meter.count('scheduler_oversell_detected_total');
    const proof = reportProof(beat.generation === undefined, node.profile);
    const claim = beat.generation === undefined ? undefined : node.claim;
    await reconcile(node, {
      running,
      claim,
      ...proof,
      ...(runningJobIds !== undefined && { runningJobIds }),
    });
    await published;
    return { kind: 'beat', health: node.health.health };
  };
}

/** A node that registered over HTTP and lost its socket gets its jobs as before; a node that began with a socket must register again. */
function comeHome(node: RegisteredNode): boolean {
  if (node.homeChannel === undefined) return false;
  node.channel = node.homeChannel;
  node.lostUntil = undefined;
  return true;
}

function inputOf(
  { profile }: RegisteredNode,
  { health, resources, leavingInMs }: Heartbeat,
  requireGpu: boolean,
): HealthInput {
  const fault = findFault(profile, resources, requireGpu);
  return {
    kind: 'beat',
    // A node that leaves gets no new jobs.
    ...(health !== undefined && { reported: health }),
    ...(leavingInMs !== undefined && health !== 'offline' && { reported: 'draining' as const }),
    ...(fault !== undefined && { fault }),
  };
}

/** The time that a heartbeat takes differs: only a clear difference is another end. */
const SAME_END_MS = 2_000;

function leavingAtOf(
  { leavingAt }: RegisteredNode,
  { leavingInMs }: Heartbeat,
  now: number,
): number | undefined {
  if (leavingInMs === undefined) return undefined;
  const at = now + leavingInMs;
  return leavingAt !== undefined && Math.abs(at - leavingAt) <= SAME_END_MS ? leavingAt : at;
}

const soundEfficiencies = (reported: Efficiencies): Efficiencies =>
  reported
    .filter(([, efficiency]) => Number.isFinite(efficiency) && efficiency >= 0)
    .slice(0, MAX_EFFICIENCIES);

function repeats(known: CapabilityReport, parts: Partial<CapabilityReport>): boolean {
  for (const part in parts) {
    const key = part as keyof CapabilityReport;
    if (!isSame(parts[key], known[key])) return false;
  }
  return true;
}
