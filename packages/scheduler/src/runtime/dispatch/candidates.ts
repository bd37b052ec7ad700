/** Hot path: whom to try for a job, given what it and its session have been through. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';
import { type InFlightJob, nodesOf } from '../in-flight-job.ts';
import { matches } from '../select/compile-need.ts';
import { NOBODY, type Selection, select } from '../select/select.ts';

/** What the choice depends on; a request that has no flight yet can be asked about too. */
export type Asked = Pick<InFlightJob, 'compiled' | 'need' | 'sentTo' | 'retries'> & {
  readonly shunned: ReadonlyMap<NodeId, number>;
};

/** `isCounted`: which pools were looked into shows in the metrics; not for a look that leads to nothing. */
export function candidates(
  engine: Engine,
  asked: Asked,
  utteranceIndex: number,
  { isCounted } = COUNTED,
): Selection {
  const { preferredNodeId, isStrict } = asked.need;
  const excluded = exclusions(engine, asked, utteranceIndex);
  if (isStrict && preferredNodeId !== undefined) {
    return onlyOf(
      !excluded.has(preferredNodeId) && matches(asked.compiled, preferredNodeId),
      preferredNodeId,
    );
  }
  const avoid = avoidance(engine, asked);
  const pools = isCounted && engine.fleet.pools !== undefined ? engine.poolWatch : undefined;
  const isAnybody = excluded === NOBODY && avoid === undefined && pools === undefined;
  const options = isAnybody ? engine.anybody : { ...engine.anybody, excluded, avoid, pools };
  return select(engine.fleet, asked.compiled, options);
}

/** Whether this node could be one of them. */
export function isCandidate(engine: Engine, asked: Asked, utteranceIndex: number, nodeId: NodeId): boolean {
  const { preferredNodeId, isStrict } = asked.need;
  if (isStrict && preferredNodeId !== undefined && preferredNodeId !== nodeId) return false;
  return matches(asked.compiled, nodeId) && !exclusions(engine, asked, utteranceIndex).has(nodeId);
}

const COUNTED = { isCounted: true };
export const UNCOUNTED = { isCounted: false };

/** Nodes that had the job, and legacy nodes that have seen a later utterance: they would not translate this one. */
export function exclusions(
  engine: Engine,
  asked: Pick<Asked, 'need' | 'sentTo' | 'shunned'>,
  utteranceIndex: number,
): ReadonlySet<NodeId> {
  const later = engine.history.sawLater(asked.need.sessionId, utteranceIndex);
  if (later.length === 0 && asked.sentTo.length === 0 && asked.shunned.size === 0) return NOBODY;
  const unfit = later.filter((nodeId) => engine.nodes.profile(nodeId)?.isLegacy === true);
  const now = engine.clock.now();
  const shunned = [...asked.shunned].filter(([, until]) => until > now).map(([nodeId]) => nodeId);
  return new Set([...nodesOf(asked.sentTo), ...unfit, ...shunned]);
}

/** Spread counts on the first try only: on the second, being served matters more. */
function avoidance(engine: Engine, asked: Pick<Asked, 'need' | 'retries'>): ReadonlySet<NodeId> | undefined {
  const { isSpreadEnabled, spreadWindowMs } = engine.settings;
  if (!isSpreadEnabled || asked.retries > 0) return undefined;
  const last = engine.history.lastNode(asked.need.sessionId, engine.clock.now(), spreadWindowMs);
  return last === undefined ? undefined : new Set([last]);
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
