/** Cold path: plans an utterance in several languages for the nodes that its tenant may use now. */
import type { Language } from '../../domain/language.ts';
import type { PlanRequest } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import { type Chain, chainId } from '../../domain/stage.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { canRun, type Readiness } from './can-run.ts';
import { needOfChain } from './chain-job.ts';
import type { ChainText } from './chain-jobs.ts';
import { planStages, type StagePlan } from './plan-stages.ts';

export type FleetPlanner = (
  request: Pick<PlanRequest, 'tenantId' | 'sessionId' | 'need' | 'input' | 'source' | 'wanted'>,
  text?: ChainText | undefined,
) => StagePlan;

export function createFleetPlanner(deps: {
  readonly fleet: FleetView;
  readonly require: Require;
  /** Languages through which a text may be translated, preferred first. */
  readonly pivots: readonly Language[];
}): FleetPlanner {
  const { fleet, require, pivots } = deps;

  return function plan(request, text) {
    const audio = request.input.kind === 'audio' ? request.input.source.kind : 'none';
    const known = new Map<string, boolean>();

    /** The planner asks for the same chain several times. */
    const couldRun =
      (readiness: Readiness) =>
      (chain: Chain): boolean => {
        const id = `${readiness} ${chain.input} ${chainId(chain)}`;
        const found = known.get(id) ?? canRun(fleet, needOfChain(chain, request, require, audio), readiness);
        known.set(id, found);
        return found;
      };

    const planned = (readiness: Readiness): StagePlan =>
      planStages({
        input: text === undefined ? request.input.kind : 'text',
        source: text?.language ?? request.source,
        wanted: request.wanted,
        canRun: couldRun(readiness),
        pivots,
      });

    const now = planned('willing');
    if (missingOf(now) === 0) return now;
    // A node that takes no jobs at the moment may do so before the deadline.
    const later = planned('up');
    return missingOf(later) < missingOf(now) ? later : now;
  };
}

const missingOf = ({ targets }: StagePlan): number =>
  targets.filter(({ missing }) => missing !== undefined).length;
