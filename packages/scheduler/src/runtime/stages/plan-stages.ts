/**
 * Cold path: which chains serve the wanted languages of one utterance. Recognises once, translates once per language, shares pivots, and uses
 * one job where one node has all stages. Pure.
 */
import { AUTO, type Language } from '../../domain/language.ts';
import type { WantedTarget } from '../../domain/plan.ts';
import { type Chain, chainId } from '../../domain/stage.ts';
import { choosePivots } from './choose-pivots.ts';
import { type PathStep, splitPath } from './split-path.ts';

export interface StageQuestion {
  readonly input: Chain['input'];
  readonly source: Language;
  /** One entry per language. */
  readonly wanted: readonly WantedTarget[];
  /** A node that the tenant may use has all stages of the chain. A node that can run a chain can run its parts on text. */
  readonly canRun: (chain: Chain) => boolean;
  /** Languages through which a text may be translated, cheapest first. */
  readonly pivots: readonly Language[];
}

export interface PlannedChain extends Chain {
  readonly id: string;
  /** The chain whose text is the input; absent: the input of the utterance. */
  readonly after?: string | undefined;
}

/** The first step that no node can do. */
export type MissingStep = 'recognition' | 'translation' | 'voice';

export interface TargetPlan extends WantedTarget {
  /** Languages of the text from the source to the target: three with a pivot. */
  readonly path: readonly Language[];
  /** The chain that yields the text; absent: it is the input text, or cannot be had. */
  readonly textFrom?: string | undefined;
  readonly voiceFrom?: string | undefined;
  /** `voice`: the text is served all the same. */
  readonly missing?: MissingStep | undefined;
}

export interface StagePlan {
  /** A chain stands behind the chain whose text it needs. */
  readonly chains: readonly PlannedChain[];
  readonly targets: readonly TargetPlan[];
  /** The source is `auto`: after the recognition the rest is planned for the recognised language, with text input. */
  readonly isContinued: boolean;
}

/** Every wanted language and voice can be had, as far as is known before the source language is recognised. */
export const isServed = ({ targets, isContinued }: StagePlan): boolean =>
  isContinued || targets.every(({ missing }) => missing === undefined);

export function planStages(given: StageQuestion): StagePlan {
  const { wanted, source, input } = given;
  const plan = createDraft(given);
  const [only] = wanted;
  if (only === undefined) return plan.finish(false);
  const whole = only !== undefined && wanted.length === 1 ? wholePath(given, only) : undefined;
  if (whole !== undefined) {
    plan.serve(only, whole);
    return plan.finish(false);
  }
  const trunk = splitPath(recognition(given), input, given.canRun);
  if (source === AUTO) {
    if (trunk === undefined) for (const target of wanted) plan.serveWhole(target, 'recognition');
    else plan.add(trunk, undefined);
    return plan.finish(trunk !== undefined);
  }
  if (trunk === undefined) for (const target of wanted) plan.serveWhole(target, 'recognition');
  else serveFromText(given, plan, trunk);
  return plan.finish(false);
}

/** One target: the fewest jobs, also across the border between recognition and translation. */
function wholePath(given: StageQuestion, target: WantedTarget): readonly Chain[] | undefined {
  const { source, input, canRun } = given;
  const { language } = target;
  const steps = (via: readonly Language[]) => [
    ...recognition(given),
    ...branch([source, ...via, language], target),
  ];
  const direct = splitPath(steps([]), input, canRun);
  // Without knowing the spoken language, only one node can do all of it.
  if (source === AUTO) return direct?.length === 1 ? direct : undefined;
  if (direct !== undefined || language === source) return direct;
  let best: readonly Chain[] | undefined;
  for (const pivot of given.pivots) {
    if (pivot === source || pivot === language) continue;
    const split = splitPath(steps([pivot]), input, canRun);
    if (split !== undefined && split.length < (best?.length ?? Number.POSITIVE_INFINITY)) best = split;
  }
  return best;
}

/** Several targets, or one without a voice that any node has: every language is translated once from the recognised text or a pivot. */
function serveFromText(given: StageQuestion, plan: Draft, trunk: readonly Chain[]): void {
  const { source, wanted, canRun, pivots } = given;
  const translates = (from: Language, to: Language): boolean =>
    canRun({ stages: ['nmt'], input: 'text', source: from, target: to });
  const languages = wanted.map(({ language }) => language).filter((language) => language !== source);
  const parents = choosePivots(source, languages, pivots, translates);
  const textOf = new Map<Language, string | undefined>();

  /** Yields the text of a language that was reached. */
  function translate(language: Language): string | undefined {
    if (textOf.has(language)) return textOf.get(language);
    const id = language === source ? plan.add(trunk, undefined) : translateFromParent(language);
    textOf.set(language, id);
    return id;
  }

  function translateFromParent(language: Language): string | undefined {
    const parent = parents.get(language) as Language;
    const chain: Chain = { stages: ['nmt'], input: 'text', source: parent, target: language };
    return plan.add([chain], translate(parent));
  }

  for (const target of wanted) {
    const { language, isVoiceWanted } = target;
    const parent = language === source ? source : parents.get(language);
    const speech = speechOf(language);
    const isSpoken = !isVoiceWanted || canRun(speech);
    if (parent === undefined || !isSpoken) {
      const isServed = plan.serveWhole(target, parent === undefined ? 'translation' : undefined);
      if (isServed || parent === undefined) continue;
    }
    // Captions never wait for sound: a voice is a chain of its own.
    const textFrom = translate(language);
    const voiceFrom = isVoiceWanted && isSpoken ? plan.add([speech], textFrom) : undefined;
    plan.target({
      ...target,
      path: pathTo(language, source, parents),
      textFrom,
      voiceFrom,
      ...(isSpoken ? undefined : { missing: 'voice' }),
    });
  }
}

const pathTo = (
  language: Language,
  source: Language,
  parents: ReadonlyMap<Language, Language>,
): readonly Language[] => {
  if (language === source) return [source];
  const parent = parents.get(language) ?? source;
  return parent === source ? [source, language] : [source, parent, language];
};

const speechOf = (language: Language): Chain => ({
  stages: ['tts'],
  input: 'text',
  source: language,
  target: language,
});

const recognition = ({ input, source }: StageQuestion): PathStep[] =>
  input === 'text'
    ? []
    : [
        { stage: 'asr', source, target: source },
        { stage: 'semantic', source, target: source },
      ];

function branch(path: readonly Language[], { language, isVoiceWanted }: WantedTarget): PathStep[] {
  const steps: PathStep[] = path.slice(1).flatMap((target, at): PathStep[] => {
    const source = path[at] as Language;
    return source === target ? [] : [{ stage: 'nmt', source, target }];
  });
  if (isVoiceWanted) steps.push({ stage: 'tts', source: language, target: language });
  return steps;
}

interface Draft {
  /** Adds what is not there yet, each chain behind the one before; returns the id of the last one, or `after` if there is none. */
  add(chains: readonly Chain[], after: string | undefined): string | undefined;
  target(plan: TargetPlan): void;
  serve(target: WantedTarget, chains: readonly Chain[]): void;
  /** One job from the audio to the target, as legacy nodes do it. `otherwise`: what is missing if no node can. */
  serveWhole(target: WantedTarget, otherwise: MissingStep | undefined): boolean;
  finish(isContinued: boolean): StagePlan;
}

function createDraft(given: StageQuestion): Draft {
  const chains = new Map<string, PlannedChain>();
  const targets: TargetPlan[] = [];

  function add(added: readonly Chain[], after: string | undefined): string | undefined {
    let last = after;
    for (const chain of added) {
      const id = chainId(chain);
      if (!chains.has(id)) chains.set(id, { ...chain, id, ...(last !== undefined && { after: last }) });
      last = id;
    }
    return last;
  }

  function serve(target: WantedTarget, path: readonly Chain[]): void {
    const last = add(path, undefined);
    const languages = [...new Set([given.source, ...path.map((chain) => chain.target), target.language])];
    // The text comes from the last chain that does more than speak.
    const text = path.filter(({ stages }) => stages.some((stage) => stage !== 'tts')).at(-1);
    targets.push({
      ...target,
      path: languages,
      textFrom: text && chainId(text),
      voiceFrom: target.isVoiceWanted ? last : undefined,
    });
  }

  /** The node of the whole job has no voice for the language: perhaps another node has. */
  function serveCaptions(target: WantedTarget, captions: Chain): void {
    const textFrom = add([captions], undefined);
    const speech = speechOf(target.language);
    const voiceFrom = given.canRun(speech) ? add([speech], textFrom) : undefined;
    const path = [given.source, target.language];
    targets.push({
      ...target,
      path,
      textFrom,
      voiceFrom,
      missing: voiceFrom === undefined ? 'voice' : undefined,
    });
  }

  function wholeChain(target: WantedTarget): Chain | undefined {
    if (given.input === 'text') return undefined;
    const steps = [...recognition(given), ...branch([given.source, target.language], target)];
    const split = splitPath(steps, given.input, given.canRun);
    return split?.length === 1 ? split[0] : undefined;
  }

  return {
    add,
    serve,
    target: (plan) => targets.push(plan),
    serveWhole(target, otherwise) {
      const whole = wholeChain(target);
      if (whole !== undefined) serve(target, [whole]);
      if (whole !== undefined || otherwise === undefined) return whole !== undefined;
      const captions = target.isVoiceWanted ? wholeChain({ ...target, isVoiceWanted: false }) : undefined;
      if (captions === undefined) targets.push({ ...target, path: [], missing: otherwise });
      else serveCaptions(target, captions);
      return captions !== undefined;
    },
    finish: (isContinued) => ({ chains: [...chains.values()], targets, isContinued }),
  };
}
