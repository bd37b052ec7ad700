/** Hot path of sessions with several languages: which utterances wait for which running plan. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import type { PartOutcome, PlanPart, PlanRequest, PlanRunner, RunningPlan } from '../../domain/plan.ts';
import type { SessionEvent } from '../event.ts';
import type { Session, SharedPlan, Utterance } from '../session.ts';
import { moveWatch } from '../utterance-state.ts';

export interface PlanWatch {
  /** A plan that runs already is replaced: the client has sent its audio again. */
  run(session: Session, utterance: Utterance, request: PlanRequest): void;
  /** The utterance has its outcome. */
  forget(utterance: Utterance): void;
  /** The session no longer waits for this outcome. */
  cancel(utterance: Utterance, message: string, code: ErrorCode): void;
  /** Another instance waits for it: nothing is cancelled. */
  handOver(utterance: Utterance): void;
  /** The client has the outcome for good. Returns the jobs of the utterance if it was the last one. */
  delivered(utterance: Utterance): readonly JobId[];
  size(): number;
  /** Calls `listen` once, when no plan runs. */
  onEmpty(listen: () => void): void;
}

export function createPlanWatch(deps: {
  runner: PlanRunner;
  post: (session: Session, event: SessionEvent) => void;
}): PlanWatch {
  const { runner, post } = deps;
  const running = new Map<SharedPlan, RunningPlan>();
  const idle: (() => void)[] = [];

  const utteranceOf = (plan: SharedPlan, part: PlanPart): Utterance | undefined =>
    plan.utterances.find(
      ({ rendition }) => rendition?.language === part.language && rendition.kind === part.kind,
    );

  const isOver = ({ isSettled, watch }: Utterance): boolean => isSettled || watch !== 'watched';

  function end(plan: SharedPlan): void {
    running.delete(plan);
    if (running.size === 0) for (const listen of idle.splice(0)) listen();
  }

  return {
    run(session, utterance, request) {
      const plan = utterance.rendition?.plan;
      if (plan === undefined || plan.utterances.every(isOver)) return;
      running.get(plan)?.leave();
      let mine: RunningPlan | undefined;
      /** Of a whole outcome. */
      let text: PartOutcome | undefined;
      // Calls of a replaced plan are ignored; the runner may call before it returns.
      const isCurrent = () => mine === undefined || running.get(plan) === mine;
      mine = runner.run(request, {
        admitted() {
          if (isCurrent()) post(session, { kind: 'admitted', utterance });
        },
        recognised(text, language) {
          if (isCurrent()) post(session, { kind: 'recognised', utterance, text, language });
        },
        moved(parts, job) {
          const utterances = parts.map((part) => utteranceOf(plan, part)).filter((one) => one !== undefined);
          if (isCurrent()) post(session, { kind: 'parts_moved', utterances, job });
        },
        settled(part, outcome) {
          const one = utteranceOf(plan, part);
          if (one === undefined) text = outcome;
          else if (isCurrent() && !isOver(one))
            post(session, {
              kind: 'part_settled',
              utterance: one,
              outcome: one.rendition?.isWhole ? withText(outcome, text) : outcome,
            });
        },
      });
      if (!plan.utterances.every(isOver)) running.set(plan, mine);
    },
    forget({ rendition }) {
      if (rendition?.plan.utterances.every(isOver)) end(rendition.plan);
    },
    cancel(utterance, message, code) {
      moveWatch(utterance, 'abandoned');
      const { rendition } = utterance;
      if (rendition === undefined) return;
      running.get(rendition.plan)?.cancel(message, code, rendition.isWhole ? undefined : rendition);
      if (rendition.plan.utterances.every(isOver)) end(rendition.plan);
    },
    handOver(utterance) {
      moveWatch(utterance, 'handed_over');
      const plan = utterance.rendition?.plan;
      if (plan === undefined) return;
      running.get(plan)?.leave();
      end(plan);
    },
    delivered({ rendition }) {
      if (rendition === undefined) return [];
      rendition.plan.undelivered -= 1;
      return rendition.plan.undelivered === 0 ? [...rendition.plan.jobIds] : [];
    },
    size: () => running.size,
    onEmpty(listen) {
      if (running.size === 0) listen();
      else idle.push(listen);
    },
  };
}

/** A translation without its voice is better than none. What the node of the text said of it is kept. */
function withText(outcome: PartOutcome, text: PartOutcome | undefined): PartOutcome {
  if (text?.kind !== 'result') return outcome;
  if (outcome.kind === 'result')
    return {
      ...outcome,
      result: { ...outcome.result, details: { ...text.result.details, ...outcome.result.details } },
    };
  const extra = { ...text.result.extra, voice_failed: `${outcome.code}: ${outcome.message}` };
  return { ...text, result: { ...text.result, extra } };
}
