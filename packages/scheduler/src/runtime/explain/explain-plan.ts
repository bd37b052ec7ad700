/** Cold path: how a request for several languages would be served now, and why: the chains, where each would run, and the way of each text. */
import type { Language } from '../../domain/language.ts';
import type { PlanRequest } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import { needOfChain } from '../stages/chain-job.ts';
import type { FleetPlanner } from '../stages/fleet-plan.ts';
import type { PlannedChain, StagePlan, TargetPlan } from '../stages/plan-stages.ts';
import type { Decision, Explain } from './create-explainer.ts';

export interface ExplainedChain {
  readonly chain: PlannedChain;
  readonly decision: Decision;
}

export interface ExplainedTarget {
  readonly target: TargetPlan;
  /** Sentences for people. */
  readonly why: readonly string[];
}

export interface ExplainedPlan {
  readonly chains: readonly ExplainedChain[];
  readonly targets: readonly ExplainedTarget[];
  readonly isContinued: boolean;
}

export type ExplainPlan = (request: PlanRequest) => ExplainedPlan;

export function createPlanExplainer(deps: {
  readonly planOf: FleetPlanner;
  readonly explain: Explain;
  readonly require: Require;
}): ExplainPlan {
  const { planOf, explain, require } = deps;
  return (request) => {
    const plan = planOf(request);
    const audio = request.input.kind === 'audio' ? request.input.source.kind : 'none';
    return {
      chains: plan.chains.map((chain) => ({
        chain,
        decision: explain({ need: needOfChain(chain, request, require, audio), waitMs: request.waitMs }),
      })),
      targets: plan.targets.map((target) => ({ target, why: whyOf(plan, request.source, target) })),
      isContinued: plan.isContinued,
    };
  };
}

/** Exported for its test. Pure. */
export function whyOf(plan: StagePlan, source: Language, target: TargetPlan): readonly string[] {
  const { isVoiceWanted, missing } = target;
  const text = whyText(plan, source, target);
  if (!isVoiceWanted || (missing !== undefined && missing !== 'voice')) return [text];
  return [text, whyVoice(plan, target)];
}

function whyText(plan: StagePlan, source: Language, target: TargetPlan): string {
  const { language, path, textFrom, missing } = target;
  if (missing === 'recognition')
    return `no node can recognise ${source}, alone or together with a translation`;
  if (missing === 'translation')
    return `no node can translate ${source} to ${language}, also not through another language`;
  if (textFrom === undefined) return 'the text is the input';
  if (language === source) return 'the text is what was recognised';
  const chain = plan.chains.find(({ id }) => id === textFrom);
  if (chain !== undefined && chain.input === 'audio' && chain.stages.includes('nmt'))
    return plan.targets.length === 1
      ? `one node can do ${chain.stages.join(' + ')}, so one job is enough`
      : `one job does ${chain.stages.join(' + ')}, because nodes cannot do it in parts`;
  const [, pivot] = path;
  if (path.length < 3 || pivot === undefined) return `translated from ${source} directly`;
  const isWanted = plan.targets.some((other) => other.language === pivot);
  const sharing = plan.targets.filter((other) => other.path.length > 2 && other.path[1] === pivot).length;
  const gain = isWanted ? `, which is wanted too` : sharing > 1 ? `, which ${sharing} languages share` : '';
  return `no node can translate ${source} to ${language}, so it is translated through ${pivot}${gain}`;
}

function whyVoice(plan: StagePlan, { language, textFrom, voiceFrom }: TargetPlan): string {
  if (voiceFrom === undefined) return `no node can speak ${language}, so only the text is served`;
  if (voiceFrom === textFrom) return 'the same job speaks it';
  return plan.targets.length === 1
    ? 'spoken by a job of its own, because no node can do all of it'
    : 'spoken by a job of its own, so that the text does not wait for the voice';
}
