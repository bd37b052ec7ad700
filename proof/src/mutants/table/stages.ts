/** Mutants that are detected only by utterances in several languages. */
import type { Mutant, World } from '../mutant.ts';

/** Most nodes have some stages only, and most clients want several languages. */
const STAGED: World = {
  faults: ['instance_killed', 'node_killed', 'client_cut'],
  scenario: {
    nodes: 4,
    stageNodes: 14,
    speakers: 0,
    dispatchers: 2,
    callers: 6,
    lecturers: 4,
    perSecond: 10,
  },
  jobs: 120,
};

export const STAGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'recognises once per language',
    breaks: ['S1 done once'],
    file: 'runtime/stages/plan-stages.ts',
    find: 'const trunk = splitPath(recognition(given), input, given.canRun);',
    replace: "const trunk = input === 'audio' ? undefined : splitPath([], input, given.canRun);",
    world: STAGED,
  },
  {
    name: 'gives the jobs of a plan other request ids each time',
    breaks: ['S1 done once'],
    file: 'domain/plan.ts',
    find: '`~${name}/${product}`',
    replace: '`~${name}/${product}/${Math.random()}`',
    world: STAGED,
  },
  {
    name: 'speaks every language',
    breaks: ['S2 wanted only'],
    file: 'transport/http/requests/plan-request.ts',
    find: 'wanted: languages.map((language) => ({ language, isVoiceWanted })),',
    replace: 'wanted: languages.map((language) => ({ language, isVoiceWanted: true })),',
    world: STAGED,
  },
  {
    name: 'takes what was recognised for the translation',
    breaks: ['I4 fencing'],
    file: 'runtime/stages/chain-jobs.ts',
    find: 'const own = isTranslated ? textTranslated : textAsr || textTranslated;',
    replace: 'const own = textAsr || textTranslated;',
    world: STAGED,
  },
  {
    name: 'translates the recognised text instead of the pivot',
    breaks: ['I4 fencing'],
    file: 'runtime/stages/chain-request.ts',
    find: 'inputText: text?.text,',
    replace: 'inputText: text?.sourceText,',
    world: STAGED,
  },
  {
    name: 'reports no failed part of a plan',
    breaks: ['nothing lost'],
    file: 'runtime/stages/run-plan.ts',
    find: "if (part?.state !== 'open' || isLeft) return;",
    replace: "if (part?.state !== 'open' || isLeft || outcome.kind === 'failed') return;",
    world: { ...STAGED, scenario: { ...STAGED.scenario, badness: 0.05 } },
  },
  {
    name: 'delivers the texts of one language out of order',
    breaks: ['I5 order'],
    file: 'session/speech/new-utterance.ts',
    find: '`${language}/${kind}`;',
    replace: '`${language}/${kind}/${Math.random()}`;',
    world: STAGED,
  },
];
