/** Cold path: reads a job from a query and prints where it would be placed, in the format that legacy tools read. Pure. */
import type { SimulateQuery, SimulateReply } from '@lingua/protocol';
import { DEFAULT_TENANT } from '../../../domain/ids.ts';
import { REJECTIONS } from '../../../domain/need.ts';
import { readLanguages } from '../../../domain/needed-directions.ts';
import { type PoolPlan, poolIdsOf } from '../../../domain/pool.ts';
import type { Require } from '../../../domain/requirements.ts';
import type { Decision, Question } from '../../../runtime/explain/create-explainer.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { isFallback } from './explain-view.ts';

export interface Simulation {
  readonly routingKey: string;
  readonly required: readonly string[];
  readonly question: Question;
}

export type BuiltSimulation =
  | { readonly kind: 'built'; readonly simulation: Simulation }
  | { readonly kind: 'invalid'; readonly field: string; readonly message: string };

/** As in sessions: recognition, translation and speech. */
const PIPELINE = { use_asr: true, use_nmt: true, use_tts: true, use_tone: false };

export function buildSimulation(
  query: SimulateQuery,
  require: Require,
  plan: PoolPlan | undefined,
): BuiltSimulation {
  const { tenant_id: tenant, session_id: session, required = [], accept_public: isPublic = true } = query;
  const read = readLanguages({ src_lang: query.src_lang ?? 'zh', tgt_lang: query.tgt_lang ?? 'en' });
  if (read.kind === 'invalid') return read;
  const { directions, isSourceAuto, isPairUnknown } = read.languages;
  const routingKey = query.routing_key ?? tenant ?? session ?? 'default';
  // A named routing key decides before the tenant, unless the tenant is bound to a pool.
  const isDecisive = query.routing_key === undefined || plan?.tenantPools.has(tenant ?? '') === true;
  const tenantId = isDecisive ? (tenant ?? DEFAULT_TENANT) : DEFAULT_TENANT;
  return {
    kind: 'built',
    simulation: {
      routingKey,
      required,
      question: {
        waitMs: 0,
        excludeNodeId: query.exclude_node_id,
        need: {
          tenantId,
          sessionId: routingKey,
          directions,
          isSourceAuto,
          ...require({ pipeline: PIPELINE, services: required }),
          isAudioByReference: false,
          isPairUnknown,
          needsPublicNode: isPublic,
          isStrict: false,
        },
      },
    },
  };
}

export function viewSimulation(simulation: Simulation, decision: Decision): SimulateReply {
  const { pools, candidateNodeId, total, eligible, reasons } = decision;
  const counts = new Map<string, number>(reasons.map(({ reason, count }) => [reason, count]));
  return omitUndefined({
    routing_key: simulation.routingKey,
    required: [...simulation.required],
    selected_node_id: candidateNodeId,
    debug: omitUndefined({
      pool_count: pools === undefined ? 0 : poolIdsOf(pools.plan).length,
      preferred_pool: pools?.preferred,
      selected_pool: pools?.selected,
      fallback_used: pools !== undefined && isFallback(pools),
      attempts: (pools?.attempts ?? []).map(({ poolId, reason, candidates }): [number, string, number] => [
        poolId,
        reason,
        candidates,
      ]),
    }),
    breakdown: {
      total_nodes: total,
      eligible,
      ...Object.fromEntries(REJECTIONS.map((reason) => [reason, counts.get(reason) ?? 0])),
    },
  });
}
