/** Cold path: plans an utterance in several languages for the nodes that its tenant may use now. */
import { AUTO, type Language } from '../../domain/language.ts';
import type { PlanRequest } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import { type Chain, chainId } from '../../domain/stage.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { canRun, type Readiness } from './can-run.ts';
import { needOfChain } from './chain-job.ts';
import type { ChainText } from './chain-jobs.ts';
import { planStages, type StagePlan } from './plan-stages.ts';
import { splitPath } from './split-path.ts';

export type FleetPlanner = (
  request: Pick<PlanRequest, 'tenantId' | 'sessionId' | 'need' | 'input' | 'source' | 'wanted'>,
  text?: ChainText | undefined,
) => StagePlan;

/** Cuts a chain that lost its only node into shorter ones that other nodes could run now. Empty: that is not possible. */
export type ChainSplitter = (request: PlanRequest, chain: Chain) => readonly Chain[];

interface FleetDeps {
  readonly fleet: FleetView;
  readonly require: Require;
}

export function createFleetPlanner(
  deps: FleetDeps & {
    /** Languages through which a text may be translated, preferred first. */
    readonly pivots: readonly Language[];
  },
): FleetPlanner {
  return function plan(request, text) {
    const couldRun = askFleet(deps, request);

    const planned = (readiness: Readiness): StagePlan =>
      planStages({
        input: text === undefined ? request.input.kind : 'text',
        source: text?.language ?? request.source,
        wanted: request.wanted,
        canRun: couldRun(readiness),
        pivots: deps.pivots,
      });

    const now = planned('willing');
    if (missingOf(now) === 0) return now;
    // A node that takes no jobs at the moment may do so before the deadline.
    const later = planned('up');
    return missingOf(later) < missingOf(now) ? later : now;
  };
}

export function createChainSplitter(deps: FleetDeps): ChainSplitter {
  return function split(request, chain) {
    // Only the node that recognises the language could go on.
    if (chain.source === AUTO) return [];
    const { stages, input, source, target } = chain;
    const steps = stages.map((stage) => ({
      stage,
      source: stage === 'tts' ? target : source,
      target: stage === 'nmt' || stage === 'tts' ? target : source,
    }));
    const couldRun = askFleet(deps, request)('willing');
    return splitPath(steps, input, (part) => part.stages.length < stages.length && couldRun(part)) ?? [];
  };
}

/** The planner asks for the same chain several times. */
function askFleet(
  { fleet, require }: FleetDeps,
  request: Pick<PlanRequest, 'tenantId' | 'sessionId' | 'need' | 'input'>,
): (readiness: Readiness) => (chain: Chain) => boolean {
  const audio = request.input.kind === 'audio' ? request.input.source.kind : 'none';
  const known = new Map<string, boolean>();
  return (readiness) => (chain) => {
    const id = `${readiness} ${chain.input} ${chainId(chain)}`;
    const found = known.get(id) ?? canRun(fleet, needOfChain(chain, request, require, audio), readiness);
    known.set(id, found);
    return found;
  };
}

const missingOf = ({ targets }: StagePlan): number =>
  targets.filter(({ missing }) => missing !== undefined).length;
