/** Describes one node to operators: by the instance that holds it, with the attempts that all instances remember. */
import type { NodeDetail } from '@lingua/protocol';
import type { NodeId } from '../../../domain/ids.ts';
import type { HttpServices } from '../server/http-services.ts';
import { type DetailPart, detailNode, detailNodeRecord, viewAttempt } from './node-view.ts';
import type { NodeElsewhere } from './remote-nodes.ts';

export type DetailServices = Pick<HttpServices, 'registry' | 'usedSlots' | 'clock' | 'recentAttempts'> & {
  readonly settings: Pick<HttpServices['settings'], 'instanceId'>;
};

/** What this instance knows. */
export function describeHere(services: DetailServices, nodeId: NodeId): Omit<NodeElsewhere, 'unreachable'> {
  const { registry, usedSlots, clock, recentAttempts, settings } = services;
  const { instanceId } = settings;
  const status = registry.get(nodeId);
  const facts = { now: clock.now(), usedSlots: usedSlots?.(nodeId), instanceId };
  return {
    node: status === undefined ? undefined : detailNode(status, facts),
    attempts: recentAttempts.of(nodeId).map((attempt) => viewAttempt(attempt, instanceId)),
  };
}

/** Undefined: no instance knows the node. */
export async function describeNode(
  services: DetailServices & Pick<HttpServices, 'remoteNodes'>,
  nodeId: NodeId,
): Promise<NodeDetail | undefined> {
  const { remoteNodes, usedSlots } = services;
  const record = remoteNodes?.find(nodeId);
  const here = describeHere(services, nodeId);
  if (record === undefined && here.node === undefined) return undefined;
  const elsewhere = (await remoteNodes?.describe(nodeId)) ?? NOTHING;
  // The holder's own view is the right one; a record is what it published last.
  const last =
    record === undefined ? here.node : (elsewhere.node ?? detailNodeRecord(record, usedSlots?.(nodeId)));
  const node = last as DetailPart;
  const attempts = [...here.attempts, ...elsewhere.attempts];
  return {
    ...node,
    recent_attempts: attempts.sort((a, b) => b.ended_at_ms - a.ended_at_ms),
    unreachable: [...elsewhere.unreachable],
  };
}

const NOTHING: NodeElsewhere = { attempts: [], unreachable: [] };
