/** Cold path: the periodic scan that finds missing heartbeats, slow starts, ends of ejections and marks, and nodes to remove. */
import type { NodeId } from '../../domain/ids.ts';
import type { Cancel } from '../../ports/clock.ts';
import type { Fleet, RegistryDeps } from '../fleet.ts';
import type { MarkKeeper } from '../marks/mark-keeper.ts';
import { isConnected, offlineAfterMs, type RegisteredNode, staleAfterMs } from '../registered-node.ts';
import { afterTime, forgive, isSuspect } from './ejection.ts';

/** Limit of one synchronous piece of cold work: jobs wait meanwhile. */
const SLICE_MS = 5;
const MAX_INTERVAL_MS = 1_000;
/** A tick that is this late or early means that the process was frozen or the clock was set: then missing heartbeats prove nothing. */
const STALL_MS = 5_000;

/** How long a deregistered node stays known: other instances must see that it is offline. */
const RETIRED_MS = 2_000;

export interface Scan {
  /** Resolves when the removal of a node with that id has ended; undefined if none is in progress. */
  departed(nodeId: NodeId): Promise<void> | undefined;
  stop(): void;
}

export function createScan(
  deps: RegistryDeps,
  fleet: Fleet,
  marks: Pick<MarkKeeper, 'passTime'>,
  isArriving: (nodeId: NodeId) => boolean,
): Scan {
  const { clock, nodeIdClaims, ledger, log, meter, settings } = deps;
  const intervalMs = Math.min(settings.scanIntervalMs, MAX_INTERVAL_MS);
  const departures = new Map<NodeId, Promise<void>>();
  let rest: Iterator<RegisteredNode> | undefined;
  let lastTickAt = clock.now();
  let patientUntil = 0;
  let cancel: Cancel = clock.after(intervalMs, tick);

  function tick(): void {
    const now = clock.now();
    const lateMs = now - lastTickAt - intervalMs;
    if (lateMs > STALL_MS || now < lastTickAt) {
      patientUntil = now + settings.heartbeatIntervalMs;
      log.warn(
        { late_ms: lateMs },
        'the clock jumped: no node is set offline until it had time to send a heartbeat',
      );
    }
    lastTickAt = now;
    rest ??= fleet.nodes.values();
    const isDone = visitSome(rest, now);
    if (isDone) {
      rest = undefined;
    }
    cancel = clock.after(isDone ? intervalMs : 1, tick);
  }

  function visitSome(nodes: Iterator<RegisteredNode>, now: number): boolean {
    for (let visited = 1; ; visited += 1) {
      const { value: node, done } = nodes.next();
      if (done === true) return true;
      visit(node, now);
      if (visited >= settings.scanBatch) return false;
      if (visited % 64 === 0 && clock.now() - now >= SLICE_MS) return false;
    }
  }

  function visit(node: RegisteredNode, now: number): void {
    if (node.isLeaving) return;
    if (node.health.lastBeatAt > now || node.health.since > now) {
      node.health = { ...node.health, lastBeatAt: now, since: now };
    }
    if (isOverdue(node, now)) depart(node);
    else look(node, now);
  }

  function look(node: RegisteredNode, now: number): void {
    const { ejection, isFresh } = node;
    if (isSuspect(ejection)) {
      fleet.setEjection(node, fleet.canSpare(node) ? afterTime(ejection, now) : forgive(ejection, now));
    }
    const hasUnmarked = marks.passTime(node, now);
    const changes = watch(node, now);
    const isNews =
      hasUnmarked || changes.length > 0 || node.isFresh !== isFresh || node.ejection !== ejection;
    if (isNews || node.declared === undefined) void fleet.publish(node, changes);
  }

  function watch(node: RegisteredNode, now: number) {
    if (!isConnected(node)) {
      return now >= (node.lostUntil ?? now) ? fleet.move(node, { kind: 'loss', reason: 'disconnected' }) : [];
    }
    if (now < patientUntil) return [];
    node.isFresh = now - node.health.lastBeatAt <= staleAfterMs(node, settings);
    return fleet.move(node, { kind: 'scan', silenceMs: offlineAfterMs(node, settings) });
  }

  /** A node that reports itself offline is known as long as it sends heartbeats. */
  function isOverdue({ nodeId, health, isRetired }: RegisteredNode, now: number): boolean {
    if (health.health !== 'offline' || isArriving(nodeId)) return false;
    const { removeStaleAfterMs } = settings;
    if (isRetired) return now - health.since > RETIRED_MS;
    return removeStaleAfterMs > 0 && now - Math.max(health.since, health.lastBeatAt) > removeStaleAfterMs;
  }

  /** The stores are updated first: if that fails, the next scan tries again. */
  function depart(node: RegisteredNode): void {
    node.isLeaving = true;
    departures.set(node.nodeId, forget(node));
  }

  async function forget(node: RegisteredNode): Promise<void> {
    const { nodeId, claim } = node;
    try {
      const current = await nodeIdClaims.current(nodeId);
      // The claim is newer than ours: the node is connected to another instance, and its leases must stay.
      if (current === undefined || current === claim) {
        await ledger.forget(nodeId);
        await nodeIdClaims.release(nodeId, claim);
      }
      fleet.remove(node);
      log.info({ node_id: nodeId }, 'node removed');
    } catch (cause) {
      node.isLeaving = false;
      meter.count('scheduler_dependency_down_total');
      log.warn({ node_id: nodeId, err: cause }, 'cannot remove a node');
    } finally {
      departures.delete(nodeId);
    }
  }

  return {
    departed: (nodeId) => departures.get(nodeId),
    stop: () => cancel(),
  };
}
