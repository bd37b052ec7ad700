/**
 * Cold path: runs the chains of a plan as ordinary jobs. A chain starts when its input is there, and takes no slot before. When a chain fails
 * for good, the parts that need it fail with its reason, and all others go on.
 */
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { AUTO } from '../../domain/language.ts';
import type { PartOutcome, PlanListener, PlanPart, PlanRequest, PlanRunner } from '../../domain/plan.ts';
import type { Chain } from '../../domain/stage.ts';
import type { ChainJobs, ChainOutcome, ChainText, ChainWatch, FinishedChain } from './chain-jobs.ts';
import type { ChainSplitter } from './fleet-plan.ts';
import type { MissingStep, PlannedChain, StagePlan, TargetPlan } from './plan-stages.ts';

/** `text`: what was recognised; the plan begins with it. Absent: it begins with the input of the request. */
export type PlanTargets = (request: PlanRequest, text?: ChainText | undefined) => StagePlan;

type Failed = Extract<PartOutcome, { kind: 'failed' }>;

interface Part {
  readonly part: PlanPart;
  /** The chains that it needs. */
  chains: ReadonlySet<string>;
  state: 'open' | 'settled' | 'cancelled';
}

interface Task {
  readonly chain: PlannedChain;
  readonly outcome: Promise<ChainOutcome>;
  /** As the outcome, but there before a voice in the same chain. */
  readonly text: Promise<ChainOutcome>;
  /** The plan was left. */
  readonly stopped: AbortController;
  jobId: JobId | undefined;
  isOver: boolean;
}

interface PlanRunnerDeps {
  readonly plan: PlanTargets;
  readonly jobs: ChainJobs;
  /** Absent: a chain is never cut after it was planned. */
  readonly split?: ChainSplitter | undefined;
}

export const createPlanRunner = (deps: PlanRunnerDeps): PlanRunner => ({
  run: (request, listener) => runPlan(deps, request, listener),
});

function runPlan(
  { plan, jobs, split }: PlanRunnerDeps,
  request: PlanRequest,
  listener: PlanListener,
): ReturnType<PlanRunner['run']> {
  const parts = new Map<string, Part>();
  const tasks = new Map<string, Task>();
  let isLeft = false;
  let isAdmitted = false;
  let isRecognised = false;

  for (const { language, isVoiceWanted } of request.wanted) {
    const kinds = isVoiceWanted ? (['text', 'voice'] as const) : (['text'] as const);
    for (const kind of kinds)
      parts.set(keyOf({ language, kind }), { part: { language, kind }, chains: NO_CHAINS, state: 'open' });
  }

  const openParts = (chainId: string): Part[] =>
    [...parts.values()].filter(({ chains, state }) => state === 'open' && chains.has(chainId));
  const isWanted = (chainId: string): boolean => !isLeft && openParts(chainId).length > 0;

  function settle(part: Part | undefined, outcome: PartOutcome): void {
    if (part?.state !== 'open' || isLeft) return;
    part.state = 'settled';
    listener.settled(part.part, outcome);
  }

  function noteMoved(chainId: string, job: JobRecord): void {
    if (isLeft) return;
    if (!isAdmitted) listener.admitted();
    isAdmitted = true;
    const needing = openParts(chainId).map(({ part }) => part);
    if (needing.length > 0) listener.moved(needing, job);
  }

  /** The first chain with the final source text, also if it translates the text at once. */
  function noteRecognised({ stages, input }: PlannedChain, outcome: ChainOutcome): void {
    const isFinal = input === 'audio' && !(stages.length === 1 && stages[0] === 'asr');
    if (outcome.kind === 'failed' || isRecognised || isLeft) return;
    if (!isFinal && !(input === 'text' && stages[0] === 'semantic')) return;
    isRecognised = true;
    listener.recognised(outcome.text.sourceText, outcome.text.sourceLanguage);
  }

  async function run(
    chain: PlannedChain,
    first: ChainText | undefined,
    stopped: AbortController,
    told: (texts: FinishedChain) => void,
  ): Promise<ChainOutcome> {
    const before = chain.after === undefined ? undefined : await tasks.get(chain.after)?.text;
    if (before?.kind === 'failed' || before?.isSilent) return before;
    if (!isWanted(chain.id)) return CANCELLED;
    const watch: ChainWatch = {
      signal: stopped.signal,
      isWanted: () => isWanted(chain.id),
      moved(job) {
        const task = tasks.get(chain.id);
        if (task !== undefined) task.jobId = job.jobId;
        noteMoved(chain.id, job);
      },
      told(texts) {
        if (texts.text.sourceText !== '') noteRecognised(chain, texts);
        if (texts.text.text !== '') told(texts);
      },
    };
    const outcome = await perform(chain, before?.text ?? first, watch);
    noteRecognised(chain, outcome);
    return outcome;
  }

  /** If its only node is gone, shorter chains replace it, one after another. */
  async function perform(
    chain: Chain,
    input: ChainText | undefined,
    watch: ChainWatch,
  ): Promise<ChainOutcome> {
    const whole = await jobs.run(chain, request, input, watch);
    const parts = lacksNode(whole) && watch.isWanted() ? (split?.(request, chain) ?? []) : [];
    let last = whole;
    let text = input;
    for (const part of parts) {
      if (!watch.isWanted()) return CANCELLED;
      last = await perform(part, text, watch);
      if (last.kind === 'failed' || last.isSilent) return last;
      text = last.text;
    }
    return last;
  }

  function start(chain: PlannedChain, first: ChainText | undefined): void {
    if (tasks.has(chain.id)) return;
    // Later, so that the caller has the plan, and this table the task, before the first callback.
    // One for each: Node.js takes more than ten listeners of one signal for a leak.
    const stopped = new AbortController();
    let told: (texts: FinishedChain) => void = () => {};
    const early = new Promise<FinishedChain>((resolve) => {
      told = resolve;
    });
    const outcome = Promise.resolve().then(() => run(chain, first, stopped, told));
    const text = Promise.race([early, outcome]);
    const task: Task = { chain, outcome, text, stopped, jobId: undefined, isOver: false };
    tasks.set(chain.id, task);
    void outcome.then(() => {
      task.isOver = true;
    });
  }

  /** `first`: the text of chains without a predecessor; absent: they work on the audio. */
  function follow(staged: StagePlan, first: ChainText | undefined): void {
    const chains = new Map(staged.chains.map((chain) => [chain.id, chain]));
    for (const part of parts.values()) {
      const target = staged.targets.find(({ language }) => language === part.part.language);
      const last = part.part.kind === 'voice' ? (target?.voiceFrom ?? target?.textFrom) : target?.textFrom;
      part.chains = staged.isContinued ? new Set(chains.keys()) : pathTo(last, chains);
    }
    for (const chain of staged.chains) start(chain, first);
    if (staged.isContinued) void continueAfter(staged.chains.at(-1));
    else for (const target of staged.targets) void settleTarget(target, first);
  }

  /** The source was `auto`: the rest is planned for the recognised language. */
  async function continueAfter(trunk: PlannedChain | undefined): Promise<void> {
    const outcome = await tasks.get(trunk?.id ?? '')?.outcome;
    if (outcome === undefined) return;
    const isOver = outcome.kind === 'failed' || outcome.isSilent;
    const text = isOver ? undefined : outcome.text;
    if (text !== undefined && text.language !== AUTO) return follow(plan(request, text), text);
    const end = isOver ? outcome : UNKNOWN_LANGUAGE;
    for (const part of parts.values()) settle(part, partOutcome(part.part, end));
  }

  async function settleTarget(target: TargetPlan, first: ChainText | undefined): Promise<void> {
    const { language, textFrom, voiceFrom, missing } = target;
    const refused = (kind: PlanPart['kind']): Failed => describeMissing(request, { language, kind }, missing);
    const text = textFrom === undefined ? undefined : tasks.get(textFrom);
    const voice = voiceFrom === undefined ? undefined : tasks.get(voiceFrom);
    const isMissing = missing !== undefined && missing !== 'voice';
    // Without a job, the wanted text is the input.
    const given = isMissing ? refused('text') : echo(first);
    const textOutcome = await (text === undefined ? Promise.resolve(given) : text.text);
    settle(
      parts.get(keyOf({ language, kind: 'text' })),
      partOutcome({ language, kind: 'text' }, textOutcome),
    );
    const isOver = textOutcome.kind === 'failed' || textOutcome.isSilent;
    const voiceOutcome =
      voice === undefined ? (isOver ? textOutcome : refused('voice')) : await voice.outcome;
    settle(
      parts.get(keyOf({ language, kind: 'voice' })),
      partOutcome({ language, kind: 'voice' }, voiceOutcome),
    );
  }

  const { input, source } = request;
  follow(
    plan(request),
    input.kind === 'audio'
      ? undefined
      : { text: input.text, language: source, sourceText: input.text, sourceLanguage: source },
  );

  return {
    cancel(reason, code, only) {
      for (const part of parts.values()) {
        const isMeant = only === undefined || keyOf(only) === keyOf(part.part);
        if (isMeant && part.state === 'open') part.state = 'cancelled';
      }
      for (const task of tasks.values()) {
        if (task.isOver || isWanted(task.chain.id)) continue;
        task.isOver = true;
        if (task.jobId !== undefined) jobs.cancel(task.jobId, reason, code satisfies ErrorCode);
      }
    },
    leave() {
      isLeft = true;
      for (const { stopped } of tasks.values()) stopped.abort();
    },
  };
}

/** Codes of a job that found no node, or lost its only one. */
const NO_NODE: ReadonlySet<string> = new Set<ErrorCode>([
  'NO_CAPABLE_NODE',
  'NODE_UNAVAILABLE',
  'WS_DISCONNECTED',
  'ACK_TIMEOUT',
  'MODEL_NOT_AVAILABLE',
]);

/** After a second attempt the job itself may be what its nodes die of, so it is not given to further nodes. */
const lacksNode = (outcome: ChainOutcome): boolean =>
  outcome.kind === 'failed' && NO_NODE.has(outcome.code) && (outcome.job?.fence?.attempt ?? 0) <= 1;

const NO_CHAINS: ReadonlySet<string> = new Set();
const CANCELLED: Failed = { kind: 'failed', code: 'JOB_CANCELLED', message: 'nothing waits for it any more' };
const UNKNOWN_LANGUAGE: Failed = {
  kind: 'failed',
  code: 'PROCESSING_ERROR',
  message: 'the node did not say which language was spoken, so its text cannot be translated',
  hint: 'Name the source language, or use a node that reports detected_language.',
};

const keyOf = ({ language, kind }: PlanPart): string => `${language}/${kind}`;

/** A chain and all that it needs. */
function pathTo(last: string | undefined, chains: ReadonlyMap<string, PlannedChain>): ReadonlySet<string> {
  const path = new Set<string>();
  for (let id = last; id !== undefined; id = chains.get(id)?.after) path.add(id);
  return path;
}

const echo = (text: ChainText | undefined): ChainOutcome =>
  text === undefined
    ? UNKNOWN_LANGUAGE
    : { kind: 'finished', text, result: NO_RESULT, job: undefined, isSilent: false };

const NO_RESULT = { textAsr: '', textTranslated: '', ttsAudio: '', ttsFormat: '' };

/** Silence has neither text nor voice, but a reason. */
function partOutcome({ kind }: PlanPart, outcome: ChainOutcome): PartOutcome {
  if (outcome.kind === 'failed') return outcome;
  const { job, result, text, isSilent } = outcome;
  if (isSilent) {
    const extra = { reason: 'ASR_EMPTY', ...result.extra };
    return { kind: 'result', job, result: { ...result, ...NO_RESULT, extra } };
  }
  const spoken = { ...result, textAsr: text.sourceText, textTranslated: text.text };
  return {
    kind: 'result',
    job,
    result: kind === 'voice' ? spoken : { ...spoken, ttsAudio: '', ttsFormat: '' },
  };
}

function describeMissing(
  { source }: PlanRequest,
  { language, kind }: PlanPart,
  missing: MissingStep | undefined,
): Failed {
  const step =
    missing === 'recognition'
      ? `recognise ${source}`
      : kind === 'voice'
        ? `speak ${language}`
        : `translate ${source} to ${language}, also not in two steps`;
  return { kind: 'failed', code: 'NO_CAPABLE_NODE', message: `no node can ${step}` };
}
