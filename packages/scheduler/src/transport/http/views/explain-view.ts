/** Cold path: prints a decision: counts for clients, and also node ids for operators. Pure. */
import type { ExplainReply, ExplainedPlan as PlanReply } from '@lingua/protocol';
import type { Need } from '../../../domain/need.ts';
import type { Decision, ExplainedNode, PoolDecision } from '../../../runtime/explain/create-explainer.ts';
import type { ExplainedPlan } from '../../../runtime/explain/explain-plan.ts';
import { requiredTypes } from '../../../runtime/select/clauses.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export function viewDecision(need: Need, decision: Decision, isOperator: boolean): ExplainReply {
  const { kind, refusal, candidateNodeId, total, eligible, reasons, pools, node, residency, distances } =
    decision;
  return omitUndefined({
    outcome: kind,
    refusal,
    candidate_node_id: isOperator ? candidateNodeId : undefined,
    tenant_id: need.tenantId,
    requirements: {
      directions: need.directions.map(({ source, target }) => ({ source, target })),
      types: [...requiredTypes(need)].sort(),
      services: [...need.services],
      features: [...(need.features ?? [])],
      audio_by_reference: need.isAudioByReference,
      public_node: need.needsPublicNode,
    },
    total_nodes: total,
    eligible_nodes: eligible,
    reasons: viewReasons(reasons, isOperator),
    ...viewAttempts(pools),
    node: node && viewNode(node),
    residency: residency && [...residency],
    regions: distances?.map(({ regions, roundTripMs, candidates }) => ({
      regions: [...regions],
      round_trip_ms: roundTripMs,
      candidates,
    })),
  });
}

export const viewExplainedPlan = (plan: ExplainedPlan, isOperator: boolean): PlanReply => ({
  chains: plan.chains.map(({ chain, decision }) =>
    omitUndefined({
      chain_id: chain.id,
      stages: [...chain.stages],
      input: chain.input,
      src_lang: chain.source,
      tgt_lang: chain.target,
      after: chain.after,
      outcome: decision.kind,
      refusal: decision.refusal,
      candidate_node_id: isOperator ? decision.candidateNodeId : undefined,
      eligible_nodes: decision.eligible,
      reasons: viewReasons(decision.reasons, isOperator),
    }),
  ),
  targets: plan.targets.map(({ target, why }) =>
    omitUndefined({
      tgt_lang: target.language,
      path: [...target.path],
      text_from: target.textFrom,
      voice_from: target.voiceFrom,
      missing: target.missing,
      why: [...why],
    }),
  ),
  continued: plan.isContinued,
});

const viewReasons = (reasons: Decision['reasons'], isOperator: boolean): ExplainReply['reasons'] =>
  reasons.map(({ reason, count, sampleNodeIds }) =>
    omitUndefined({ reason, count, sample_node_ids: isOperator ? [...sampleNodeIds] : undefined }),
  );

function viewAttempts(pools: PoolDecision | undefined) {
  if (pools === undefined) return { pools: [], fallback_used: false };
  const { plan, attempts, preferred, selected, confinement } = pools;
  const names = new Map(plan.pools.map(({ poolId, name }) => [poolId, name === '' ? undefined : name]));
  return {
    pools: attempts.map(({ poolId, reason, candidates }) =>
      omitUndefined({ pool_id: poolId, pool_name: names.get(poolId), reason, candidates }),
    ),
    preferred_pool: preferred,
    selected_pool: selected,
    fallback_used: isFallback(pools),
    confinement,
  };
}

export const isFallback = ({ preferred, selected }: PoolDecision): boolean =>
  selected !== undefined && selected !== preferred;

const viewNode = ({ nodeId, isKnown, isCandidate, poolIds, failed }: ExplainedNode) => ({
  node_id: nodeId,
  known: isKnown,
  candidate: isCandidate,
  pool_ids: [...poolIds],
  failed: failed.map(({ reason, fact }) => ({ reason, fact })),
});
