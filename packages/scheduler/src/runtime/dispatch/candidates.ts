/** Hot path: which nodes to try for a job, given its earlier attempts and its session. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';
import { factKey } from '../fleet/fact-key.ts';
import { type InFlightJob, nodesOf } from '../in-flight-job.ts';
import { matches } from '../select/compile-need.ts';
import { NO_EXCLUSIONS, type Selection, select } from '../select/select.ts';

/** What the choice depends on: an in-flight job, or a request without one. */
export type SelectionInput = Pick<InFlightJob, 'compiled' | 'sentTo' | 'retries'> & {
  readonly skippedUntil: ReadonlyMap<NodeId, number>;
};

/** `isCounted`: metrics count the pools that were tried; not for a check without effect. */
export function candidates(
  engine: Engine,
  input: SelectionInput,
  utteranceIndex: number,
  { isCounted } = COUNTED,
): Selection {
  const { preferredNodeId, isStrict } = input.compiled.need;
  const excluded = exclusions(engine, input, utteranceIndex);
  if (isStrict && preferredNodeId !== undefined) {
    return onlyOf(
      !excluded.has(preferredNodeId) && matches(input.compiled, preferredNodeId),
      preferredNodeId,
    );
  }
  const avoid = avoidance(engine, input);
  const pools = isCounted && engine.fleet.pools !== undefined ? engine.poolWatch : undefined;
  const avoidedZone = failedZone(engine, input);
  const isDefault =
    excluded === NO_EXCLUSIONS && avoid === undefined && avoidedZone === undefined && pools === undefined;
  const options = isDefault
    ? engine.defaultSelection
    : { ...engine.defaultSelection, excluded, avoid, avoidedZone, pools };
  return select(engine.fleet, input.compiled, options);
}

/** Whether this node could be a candidate. */
export function isCandidate(
  engine: Engine,
  input: SelectionInput,
  utteranceIndex: number,
  nodeId: NodeId,
): boolean {
  const { preferredNodeId, isStrict } = input.compiled.need;
  if (isStrict && preferredNodeId !== undefined && preferredNodeId !== nodeId) return false;
  return matches(input.compiled, nodeId) && !exclusions(engine, input, utteranceIndex).has(nodeId);
}

const COUNTED = { isCounted: true };
export const UNCOUNTED = { isCounted: false };

/** Nodes that had the job, and legacy nodes that got a later utterance: they would not translate this one. */
export function exclusions(
  engine: Engine,
  input: Pick<SelectionInput, 'compiled' | 'sentTo' | 'skippedUntil'>,
  utteranceIndex: number,
): ReadonlySet<NodeId> {
  const later = engine.history.sawLater(input.compiled.need.sessionId, utteranceIndex);
  if (later.length === 0 && input.sentTo.length === 0 && input.skippedUntil.size === 0) return NO_EXCLUSIONS;
  const unfit = later.filter((nodeId) => engine.nodes.profile(nodeId)?.isLegacy === true);
  const now = engine.clock.now();
  const skippedUntil = [...input.skippedUntil].filter(([, until]) => until > now).map(([nodeId]) => nodeId);
  return new Set([...nodesOf(input.sentTo), ...unfit, ...skippedUntil]);
}

/** Spreading applies to the first try only: a retry takes any free node. */
function avoidance(
  engine: Engine,
  input: Pick<SelectionInput, 'compiled' | 'retries'>,
): ReadonlySet<NodeId> | undefined {
  const { isSpreadEnabled, spreadWindowMs } = engine.settings;
  if (!isSpreadEnabled || input.retries > 0) return undefined;
  const last = engine.history.lastNode(input.compiled.need.sessionId, engine.clock.now(), spreadWindowMs);
  return last === undefined ? undefined : new Set([last]);
}

/** A retry goes to another zone if it can: what failed may be the zone. */
function failedZone(
  { fleet }: Engine,
  { sentTo, retries }: Pick<SelectionInput, 'sentTo' | 'retries'>,
): string | undefined {
  const last = retries > 0 ? nodesOf(sentTo).at(-1) : undefined;
  const view = last === undefined ? undefined : fleet.view(last);
  return view?.zone === undefined ? undefined : factKey.inZone(view);
}

function onlyOf(isFit: boolean, nodeId: NodeId): Selection {
  let isLeft = isFit;
  return {
    next() {
      const isNow = isLeft;
      isLeft = false;
      return isNow ? nodeId : undefined;
    },
  };
}
