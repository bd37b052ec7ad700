/** Hot path: the state of an utterance that was just accepted; in several languages, of each of its outcomes. Pure. */
import type { Language } from '../../domain/language.ts';
import type { PartKind, PlanPart, WantedTarget } from '../../domain/plan.ts';
import { NO_WORK } from '../outcomes/delivery.ts';
import type { Rendition, Session, SharedPlan, Utterance } from '../session.ts';

export type Received = Pick<
  Utterance,
  | 'index'
  | 'jobId'
  | 'traceId'
  | 'requestId'
  | 'groupId'
  | 'partIndex'
  | 'firstSeq'
  | 'lastSeq'
  | 'startedAt'
  | 'acceptedAt'
>;

export const newUtterance = (received: Received): Utterance => ({
  ...received,
  audioBytes: 0,
  acceptance: 'received',
  watch: 'watched',
  savedJobId: undefined,
  isMissingSaved: false,
  isAudioElsewhere: false,
  wasSettledBefore: false,
  isPlaced: true,
  nodeId: undefined,
  sentUiEvents: 0,
  isSettled: false,
  outcome: undefined,
  readyAt: 0,
  work: NO_WORK,
});

/** Utterances of several languages: the text of every language, and the voice of those that are spoken. */
export function newRenditions(
  received: Received,
  plan: { readonly name: string; readonly source: Language; readonly parts: readonly PlanPart[] },
): Utterance[] {
  return joinPlan(
    plan,
    plan.parts.map((part) => ({ part, utterance: newUtterance(received) })),
  );
}

/** Makes renditions of utterances that are otherwise complete. */
export function joinPlan(
  { name, source }: Pick<SharedPlan, 'name' | 'source'>,
  parts: readonly {
    readonly part: PlanPart & Pick<Rendition, 'isWhole'>;
    readonly utterance: Utterance;
  }[],
): Utterance[] {
  const plan: SharedPlan = {
    name,
    source,
    utterances: [],
    jobIds: new Set(),
    undelivered: parts.length,
    hasMissing: false,
  };
  for (const { part, utterance } of parts) {
    const rendition = { ...part, plan, jobId: undefined, hasFailed: false };
    plan.utterances.push({ ...utterance, ...(part.isWhole ? undefined : { lane: laneOf(part) }), rendition });
  }
  return plan.utterances;
}

/** Captions never wait for sound, and no language for another. */
const laneOf = ({ language, kind }: PlanPart): string => `${language}/${kind}`;

export const partsOf = (targets: readonly WantedTarget[]): PlanPart[] =>
  targets.flatMap(({ language, isVoiceWanted }) => {
    const kinds: PartKind[] = isVoiceWanted ? ['text', 'voice'] : ['text'];
    return kinds.map((kind) => ({ language, kind }));
  });

/** Other audio under the same request id is another plan. */
export const planName = (
  { sessionId }: Session,
  index: number,
  binding: { readonly requestId: string; readonly fingerprint: string } | undefined,
): string =>
  binding === undefined ? `${sessionId}.${index}` : `${binding.requestId}.${binding.fingerprint}`;
