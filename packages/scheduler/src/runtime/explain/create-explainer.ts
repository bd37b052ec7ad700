/**
 * Cold path: the decision that dispatch would make now, and why. It calls the same functions as dispatch without effects: nothing
 * is reserved, counted, cached or sent. Dispatch does not depend on it.
 */
import { countOnes } from '../../domain/bits.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { Need, RejectionCount } from '../../domain/need.ts';
import type { PoolId, PoolPlan } from '../../domain/pool.ts';
import type { Region } from '../../domain/region.ts';
import { candidates, exclusions, type SelectionInput } from '../dispatch/candidates.ts';
import { refusal } from '../dispatch/refusal.ts';
import type { Engine } from '../engine.ts';
import { NO_SKIPPED_NODES } from '../in-flight-job.ts';
import type { Confinement } from '../pools/pool-map.ts';
import { type CompiledNeed, compileUncached, matches, residencyOf, routeOf } from '../select/compile-need.ts';
import { explain } from '../select/explain.ts';
import type { PoolWatch } from '../select/select.ts';
import { type FailedFact, failedFacts } from './failed-facts.ts';
import { attemptPools, type PoolAttempt } from './pool-attempts.ts';

export interface Question {
  readonly need: Need;
  readonly waitMs: number;
  /** Computes the decision without this node. */
  readonly excludeNodeId?: NodeId | undefined;
  /** Lists all reasons against this node. */
  readonly nodeId?: NodeId | undefined;
}

export interface ExplainedNode {
  readonly nodeId: NodeId;
  readonly isKnown: boolean;
  readonly isCandidate: boolean;
  readonly poolIds: readonly PoolId[];
  readonly failed: readonly FailedFact[];
}

export interface Decision {
  readonly kind: 'dispatch' | 'wait' | 'refuse';
  /** A node that could be chosen now; the next choice may differ. */
  readonly candidateNodeId: NodeId | undefined;
  readonly refusal: { readonly code: ErrorCode; readonly message: string } | undefined;
  readonly total: number;
  readonly eligible: number;
  readonly reasons: readonly RejectionCount[];
  /** Undefined: there are no pools. */
  readonly pools: PoolDecision | undefined;
  readonly node: ExplainedNode | undefined;
  /** The only regions that the tenant allows. */
  readonly residency: readonly Region[] | undefined;
  /** From near to far; undefined: no region is preferred. */
  readonly distances: readonly RegionDecision[] | undefined;
}

/** Nodes that are equally near. */
export interface RegionDecision {
  /** Empty: all others, and nodes that name no region. */
  readonly regions: readonly Region[];
  readonly roundTripMs: number;
  /** Nodes that could take the job now, pools aside. */
  readonly candidates: number;
}

export interface PoolDecision {
  readonly plan: PoolPlan;
  readonly attempts: readonly PoolAttempt[];
  readonly preferred: PoolId | undefined;
  readonly selected: PoolId | undefined;
  readonly confinement: Confinement['kind'] | undefined;
}

export type Explain = (question: Question) => Decision;

/** The question is about the latest utterance of its session. */
const LATEST = Number.MAX_SAFE_INTEGER;
const SILENT: PoolWatch = { missed() {}, found() {}, exhausted() {} };

export function createExplainer(engine: Engine): Explain {
  const quiet: Engine = { ...engine, poolWatch: SILENT };

  /** The tenant is at its cap: dispatch checks that when it has a node. */
  function atCap({ tenantId }: Need) {
    const { caps } = engine;
    if (caps === undefined || caps.hasRoom(tenantId)) return undefined;
    return { code: 'RATE_LIMITED' as const, message: caps.explain(tenantId), isWaitUseful: true };
  }

  function inspect(input: SelectionInput, nodeId: NodeId, excluded: ReadonlySet<NodeId>): ExplainedNode {
    const { pools, indexOf } = engine.fleet.table;
    const failed = failedFacts(input.compiled, nodeId, excluded, engine.clock.now());
    return {
      nodeId,
      isKnown: failed !== undefined,
      isCandidate: matches(input.compiled, nodeId) && !excluded.has(nodeId),
      poolIds: failed === undefined ? [] : (pools?.of(indexOf(nodeId)) ?? []),
      failed: failed ?? [{ reason: 'offline', fact: 'no node of this id is registered' }],
    };
  }

  function lookIntoPools(input: SelectionInput, chosen: NodeId | undefined, excluded: ReadonlySet<NodeId>) {
    const route = routeOf(input.compiled);
    const attempts = attemptPools(input.compiled, excluded);
    const plan = engine.fleet.pools?.plan;
    if (route === undefined || attempts === undefined || plan === undefined) return undefined;
    const { pools, indexOf } = engine.fleet.table;
    // A preferred node is used in any pool of the job.
    const isPreferred = chosen !== undefined && chosen === input.compiled.need.preferredNodeId;
    const found = isPreferred
      ? pools?.of(indexOf(chosen))[0]
      : attempts.find(({ reason }) => reason === 'ok')?.poolId;
    return {
      plan,
      attempts,
      preferred: route.isFallback === true ? undefined : route.poolIds[route.start],
      selected: chosen === undefined ? undefined : found,
      confinement: route.confinement?.kind,
    };
  }

  function measureDistances({ query, need }: CompiledNeed): readonly RegionDecision[] | undefined {
    const { rings, queries, columns } = engine.fleet.table;
    let nearer = 0;
    return rings?.(query, need.region)?.map((ring) => {
      const all = queries
        .words(ring.query)
        .reduce((sum, word, at) => sum + countOnes(word & (columns.usable[at] ?? 0)), 0);
      // The last ring has all nodes.
      const candidates = ring.regions.length === 0 ? all - nearer : all;
      nearer += candidates;
      return { regions: ring.regions, roundTripMs: ring.roundTripMs, candidates };
    });
  }

  return function decide({ need, waitMs, excludeNodeId, nodeId }) {
    const compiled = compileUncached(engine.fleet, need);
    const sentTo = excludeNodeId === undefined ? [] : [excludeNodeId];
    const input: SelectionInput = { compiled, sentTo, retries: 0, skippedUntil: NO_SKIPPED_NODES };
    const excluded = exclusions(quiet, input, LATEST);
    const candidateNodeId = candidates(quiet, input, LATEST).next();
    const { total, eligible, reasons } = explain(engine.fleet, compiled, excluded);
    const refused = candidateNodeId === undefined ? refusal(engine.fleet, compiled, excluded) : atCap(need);
    const isWaiting = refused?.isWaitUseful === true && waitMs > 0;
    return {
      kind: refused === undefined ? 'dispatch' : isWaiting ? 'wait' : 'refuse',
      candidateNodeId,
      refusal: refused && { code: refused.code, message: refused.message },
      total,
      eligible,
      reasons,
      pools: lookIntoPools(input, candidateNodeId, excluded),
      node: nodeId === undefined ? undefined : inspect(input, nodeId, excluded),
      residency: residencyOf(engine.fleet, need),
      distances: measureDistances(compiled),
    };
  };
}
