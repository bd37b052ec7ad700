/**
 * Ten target languages: recognised once and translated per language, next to one whole job per language, by the planner, the plan runner and
 * the engine on virtual time. A model: a slot is one job whatever its stages, and nodes do not slow each other down.
 */
import { createJobEvents } from '../../packages/scheduler/dist/adapters/memory/job-events.js';
import { DEFAULT_TENANT } from '../../packages/scheduler/dist/domain/ids.js';
import type { JobSpec } from '../../packages/scheduler/dist/domain/job-spec.js';
import type { PlanRequest } from '../../packages/scheduler/dist/domain/plan.js';
import { createRequirements } from '../../packages/scheduler/dist/domain/requirements.js';
import { type Chain, STAGES, type Stage } from '../../packages/scheduler/dist/domain/stage.js';
import { createMachine } from '../../packages/scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../packages/scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../packages/scheduler/dist/plan/kernel/virtual-time.js';
import { createPlanEngine, createPlanStore } from '../../packages/scheduler/dist/plan/plan-engine.js';
import type { NodeLink } from '../../packages/scheduler/dist/ports/node-link.js';
import { createJobReader } from '../../packages/scheduler/dist/runtime/job-reader.js';
import { createChainJobs } from '../../packages/scheduler/dist/runtime/stages/chain-jobs.js';
import { planStages } from '../../packages/scheduler/dist/runtime/stages/plan-stages.js';
import { createPlanRunner } from '../../packages/scheduler/dist/runtime/stages/run-plan.js';
import { type Figure, percentile } from './measure.ts';
import { logLine } from './show.ts';

/** Of a real node, for a sentence of three seconds. */
const STAGE_MS: Readonly<Record<Stage, number>> = { asr: 1_650, semantic: 300, nmt: 1_460, tts: 800 };
const LANGUAGES = ['es', 'fr', 'pt', 'it', 'de', 'pl', 'nl', 'sv', 'ja', 'ko'];
const NODES = 40;
const SLOTS = 4;
const LOAD = 0.7;
/** Of the utterances: the nodes fill up meanwhile. */
const WARM_UP = 0.1;
const STEP_MS = 10_000;
const DAY_MS = 86_400_000;
const SILENCE = Buffer.alloc(96_000);

/** `whole`: one job with all stages per language, as nodes without stages need it. */
type Way = 'staged' | 'whole';

interface Case {
  readonly way: Way;
  readonly targets: number;
  readonly isSpoken: boolean;
  readonly utterances: number;
}

interface Served {
  readonly slotSeconds: number;
  readonly jobs: number;
  /** Of the texts of an utterance, in seconds after it was spoken, ascending. */
  readonly first: readonly number[];
  readonly last: readonly number[];
}

const stagesOf = ({ stages, pipeline }: JobSpec): readonly Stage[] =>
  stages ?? STAGES.filter((stage) => pipeline[`use_${stage}`]);

const workMs = (stages: readonly Stage[]): number => stages.reduce((sum, stage) => sum + STAGE_MS[stage], 0);

/** What the arithmetic says: slot-seconds of one utterance. */
export function slotSecondsOf({ way, targets, isSpoken }: Omit<Case, 'utterances'>): number {
  const heard = STAGE_MS.asr + STAGE_MS.semantic;
  const told = STAGE_MS.nmt + (isSpoken ? STAGE_MS.tts : 0);
  const ms = way === 'whole' || targets === 1 ? targets * (heard + told) : heard + targets * told;
  return ms / 1_000;
}

/** `canRun`: with `whole`, no node has a part of the work. */
const canRun =
  (way: Way) =>
  ({ stages, input }: Chain): boolean =>
    way === 'staged' || (input === 'audio' && stages.includes('nmt'));

export async function serve({ way, targets, isSpoken, utterances }: Case): Promise<Served> {
  const time = createVirtualTime();
  const { clock } = createMachine({ time, name: 'stages' });
  const traffic = seededChance('stages/traffic');
  const store = createPlanStore(clock, 100_000);
  const events = createJobEvents({ maxListeners: 1_000_000 });
  const first: number[] = [];
  const last: number[] = [];
  let slotMs = 0;
  let jobs = 0;
  let ended = 0;
  let fault: unknown;
  const fail = (reason: unknown): void => {
    fault ??= reason;
  };

  const link: NodeLink = {
    deliver({ nodeId, attempt, job: { jobId, spec } }) {
      const answer = { nodeId, jobId, attempt };
      const tookMs = workMs(stagesOf(spec));
      slotMs += tookMs;
      jobs += 1;
      time.at(time.now(), () => engine.acknowledge(answer).catch(fail));
      time.at(time.now() + tookMs, () => engine.finish(answer, RESULT).catch(fail));
      return { kind: 'written' };
    },
    cancel() {},
  };
  const engine = await createPlanEngine({
    clock,
    link,
    workload: { serviceMs: workMs(STAGES), slots: SLOTS, maxWaitMs: DAY_MS },
    nodes: NODES,
    seed: 'stages',
    records: { store, events },
  });
  const runner = createPlanRunner({
    jobs: createChainJobs({
      clock,
      chance: traffic,
      log: SILENT,
      require: createRequirements(NO_CORE),
      dispatch: engine.dispatch,
      cancel: engine.cancel,
      store,
      reader: createJobReader({ clock, store, events }),
    }),
    plan: ({ input, source, wanted }) =>
      planStages({ input: input.kind, source, wanted, canRun: canRun(way), pivots: [] }),
  });

  const wanted = LANGUAGES.slice(0, targets).map((language) => ({ language, isVoiceWanted: isSpoken }));

  function arrive(number: number): void {
    const spokenAt = time.now();
    let openTexts = wanted.length;
    let openParts = wanted.length * (isSpoken ? 2 : 1);
    runner.run(requestOf(number, clock.now(), wanted), {
      admitted() {},
      recognised() {},
      moved() {},
      settled({ kind }, outcome) {
        if (outcome.kind === 'failed') return fail(new Error(`${outcome.code}: ${outcome.message}`));
        const seconds = (time.now() - spokenAt) / 1_000;
        if (kind === 'text' && openTexts === wanted.length) first[number] = seconds;
        if (kind === 'text') openTexts -= 1;
        if (kind === 'text' && openTexts === 0) last[number] = seconds;
        openParts -= 1;
        if (openParts === 0) ended += 1;
      },
    });
    const gapMs = (1_000 * slotSecondsOf({ way, targets, isSpoken })) / (LOAD * NODES * SLOTS);
    if (number + 1 < utterances)
      time.at(time.now() - gapMs * Math.log(1 - traffic()), () => arrive(number + 1));
  }
  time.at(0, () => arrive(0));
  while (ended < utterances) {
    await time.runUntil(time.now() + STEP_MS);
    if (fault !== undefined) throw fault;
  }
  engine.stop();
  const warm = (seconds: readonly number[]) =>
    seconds.slice(Math.floor(WARM_UP * utterances)).sort((a, b) => a - b);
  return {
    slotSeconds: slotMs / 1_000 / utterances,
    jobs: jobs / utterances,
    first: warm(first),
    last: warm(last),
  };
}

const RESULT = { textAsr: 'hello', textTranslated: 'hola', ttsAudio: 'AAAA', ttsFormat: 'pcm16' };
const NO_CORE = {};
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const requestOf = (number: number, now: number, wanted: PlanRequest['wanted']): PlanRequest => ({
  tenantId: DEFAULT_TENANT,
  sessionId: `s-${number}`,
  name: `bench/${number}`,
  fingerprint: `${number}`,
  input: { kind: 'audio', source: { kind: 'held', bytes: SILENCE.length }, audio: SILENCE },
  source: 'en',
  wanted,
  spec: {
    utteranceIndex: number,
    audioFormat: 'pcm16',
    sampleRate: 16_000,
    traceId: 'bench',
    cut: 'manual',
  },
  need: { needsPublicNode: false },
  deadlineAt: now + DAY_MS,
  waitMs: DAY_MS,
});

const figure = (name: string, value: number, unit: string, target?: Figure['target']): Figure => ({
  scenario: 'stages',
  name,
  value,
  unit,
  ...(target && { target }),
});

export async function stages({ utterances }: { readonly utterances: number }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { isSpoken, what, atLeast } of [
    { isSpoken: true, what: 'ten languages, spoken', atLeast: 1.6 },
    { isSpoken: false, what: 'ten languages, captions only', atLeast: 1.9 },
  ]) {
    const of = { targets: LANGUAGES.length, isSpoken };
    logLine(`stages: ${what}`);
    const staged = await serve({ way: 'staged', ...of, utterances });
    const whole = await serve({ way: 'whole', ...of, utterances });
    const ceiling = slotSecondsOf({ way: 'whole', ...of }) / slotSecondsOf({ way: 'staged', ...of });
    figures.push(
      figure(`${what}: slot-seconds whole ÷ staged (model)`, whole.slotSeconds / staged.slotSeconds, '×', {
        atLeast,
      }),
      figure(`${what}: its arithmetic ceiling`, ceiling, '×'),
    );
    for (const [way, { first, last }] of [
      ['staged', staged],
      ['whole', whole],
    ] as const)
      for (const [which, seconds] of [
        ['first', first],
        ['last', last],
      ] as const)
        for (const [name, share] of [
          ['p50', 0.5],
          ['p99', 0.99],
        ] as const)
          figures.push(
            figure(
              `${what}: text of the ${which} language at 70 % load, ${way}, ${name}`,
              percentile(seconds, share),
              's',
            ),
          );
  }
  const one = { targets: 1, isSpoken: true, utterances };
  const planned = await serve({ way: 'staged', ...one });
  return [
    ...figures,
    figure('one language, whole node: jobs per utterance', planned.jobs, '', { atMost: 1 }),
    figure(
      'one language, whole node: slot-seconds planned ÷ whole job',
      planned.slotSeconds / slotSecondsOf({ way: 'whole', ...one }),
      '×',
      { atMost: 1.02 },
    ),
  ];
}
