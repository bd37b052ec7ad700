/** Hot path: what the engine learns about nodes, recorded in the registry: placements, outcomes and missing models. */
import type { NodeId } from '../domain/ids.ts';
import type { Need } from '../domain/need.ts';
import { useOf } from '../domain/service-use.ts';
import type { NodeOutcome, NodeRegistry } from './node-registry.ts';

export function createNodeKnowledge<Profile, Report>(deps: {
  readonly profile: Profile;
  readonly registry: Pick<NodeRegistry, 'recordPlacement' | 'recordOutcome'>;
  readonly modelNotAvailable: Report;
}) {
  const { profile, registry, modelNotAvailable } = deps;
  return {
    profile,
    placed: (nodeId: NodeId, need: Need): void => registry.recordPlacement(nodeId, useOf(need)),
    outcome: (nodeId: NodeId, outcome: NodeOutcome, need: Need): void =>
      registry.recordOutcome(nodeId, outcome, useOf(need)),
    modelNotAvailable,
  };
}
