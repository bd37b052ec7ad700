/** Cold path: runs one chain of a plan as a job: dispatches it, waits for its outcome, and reads the text that it passes on. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import { foldLanguage, type Language } from '../../domain/language.ts';
import type { EarlyText } from '../../domain/node-report.ts';
import type { PartOutcome, PlanRequest } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import type { Chain } from '../../domain/stage.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { JobStore } from '../../ports/job-store.ts';
import type { Log } from '../../ports/log.ts';
import type { JobReader } from '../job-reader.ts';
import type { TextsOfJobs } from '../texts-of-jobs.ts';
import { chainRequest } from './chain-request.ts';

/** A text on its way through the chains of a plan. */
export interface ChainText {
  readonly text: string;
  readonly language: Language;
  /** What was recognised or typed. */
  readonly sourceText: string;
  readonly sourceLanguage: Language;
  /** What the nodes reported of the chains so far, in milliseconds per stage. */
  readonly timings?: Timings | undefined;
}

type Timings = Readonly<Record<string, number>>;

export type FinishedChain = Extract<ChainOutcome, { kind: 'finished' }>;

export type ChainOutcome =
  | {
      readonly kind: 'finished';
      readonly text: ChainText;
      readonly result: JobResult;
      /** Absent: no job was needed. */
      readonly job: JobRecord | undefined;
      /** Nothing was recognised. */
      readonly isSilent: boolean;
    }
  | Extract<PartOutcome, { kind: 'failed' }>;

export interface ChainWatch {
  /** Aborted: the caller does not wait any more, and the job goes on. */
  readonly signal: AbortSignal;
  readonly isWanted: () => boolean;
  /** The job is recorded, or was found, or has moved. */
  readonly moved: (job: JobRecord) => void;
  /** Its texts are final, and its voice is being made. The text of the chain may be empty still: then only the source text is known. */
  readonly told: (texts: FinishedChain) => void;
}

export interface ChainJobs {
  /** `text`: the input; absent: the audio of the request. Never rejects. */
  run(
    chain: Chain,
    request: PlanRequest,
    text: ChainText | undefined,
    watch: ChainWatch,
  ): Promise<ChainOutcome>;
  cancel(jobId: JobId, reason: string, code: ErrorCode): void;
}

const RETRY_DELAY_MS = 250;
/** Moves arrive by subscription; this often the record is read in case one was missed, or the driver has died. */
const READ_INTERVAL_MS = 2_000;
/** A missing record may be in transit between two masters: only the second miss counts. */
const MISSES_UNTIL_GONE = 2;
/** A record past its deadline is settled by then. */
const OVERDUE_MS = 5_000;

export function createChainJobs(deps: {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly require: Require;
  readonly dispatch: (request: DispatchRequest) => MaybePromise<DispatchOutcome>;
  readonly cancel: (jobId: JobId, reason: string, code: ErrorCode) => Promise<unknown>;
  readonly store: Pick<JobStore, 'bound'>;
  readonly reader: Pick<JobReader, 'watch' | 'settled'>;
  /** Absent: texts are known when their job is done. */
  readonly earlyTexts?: Pick<TextsOfJobs<EarlyText>, 'subscribe'> | undefined;
}): ChainJobs {
  const { clock, log, reader } = deps;

  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

  /** Tries again while the store is down. */
  async function dispatch(request: DispatchRequest, watch: ChainWatch): Promise<DispatchOutcome> {
    const until = clock.now() + request.waitMs;
    for (;;) {
      const leftMs = until - clock.now();
      const outcome = await deps.dispatch({ ...request, waitMs: Math.max(0, leftMs), admitted: watch.moved });
      const isDown = outcome.kind === 'refused' && outcome.code === 'SCHEDULER_DEPENDENCY_DOWN';
      if (!isDown || leftMs <= 0 || !watch.isWanted()) return outcome;
      await pause(Math.min(leftMs, RETRY_DELAY_MS * (0.5 + deps.chance())));
    }
  }

  /** The audio is on another instance, or was: the job is found, or is recorded when the client sends the audio again. */
  async function findJob(request: DispatchRequest, watch: ChainWatch): Promise<DispatchOutcome> {
    const until = clock.now() + request.waitMs;
    for (;;) {
      const job = await deps.store.bound(request.tenantId, request.requestId ?? '').catch(() => undefined);
      if (job !== undefined) return { kind: 'dispatched', job, isRepeat: true };
      if (clock.now() >= until || !watch.isWanted()) return AUDIO_LOST;
      await pause(RETRY_DELAY_MS);
    }
  }

  /**
   * Resolves with the settled record. `gone`: there is no record any more. `lost`: its attempt ended after it had told the text. Undefined: the
   * caller left, or the job is overdue.
   */
  function settled(
    job: JobRecord,
    watch: ChainWatch,
    told: (text: EarlyText) => boolean,
  ): Promise<JobRecord | 'gone' | 'lost' | undefined> {
    if (isSettled(job.state)) return Promise.resolve(job);
    const { jobId, deadlineAt } = job;
    return new Promise((resolve) => {
      const subscription = reader.watch(jobId, note);
      const stopTexts = deps.earlyTexts?.subscribe(jobId, (text) => {
        hasText = told(text) || hasText;
      });
      const leave = () => end(undefined);
      watch.signal.addEventListener('abort', leave, { once: true });
      let cancel = clock.after(READ_INTERVAL_MS, () => void readAgain());
      let isOver = false;
      let hasText = false;
      let misses = 0;

      function end(last: JobRecord | 'gone' | 'lost' | undefined): void {
        if (isOver) return;
        isOver = true;
        cancel();
        watch.signal.removeEventListener('abort', leave);
        if (subscription.kind === 'subscribed') subscription.stop();
        stopTexts?.();
        resolve(last);
      }

      function note(moved: JobRecord): void {
        if (isOver) return;
        watch.moved(moved);
        if (isSettled(moved.state)) end(moved);
        else if (hasText && moved.state === 'RETRYING') end('lost');
      }

      async function readAgain(): Promise<void> {
        const now = await reader.settled(jobId, 1, watch.signal).catch(() => 'unknown' as const);
        if (isOver) return;
        misses = now === undefined ? misses + 1 : 0;
        if (misses >= MISSES_UNTIL_GONE) end('gone');
        else if (typeof now === 'object' && isSettled(now.state)) note(now);
        else if (clock.now() > deadlineAt + OVERDUE_MS) end(undefined);
        else cancel = clock.after(READ_INTERVAL_MS, () => void readAgain());
      }
      if (watch.signal.aborted) leave();
    });
  }

  function cancel(jobId: JobId, reason: string, code: ErrorCode): void {
    deps
      .cancel(jobId, reason, code)
      .catch((fault: unknown) => log.warn({ job_id: jobId, err: fault }, 'could not cancel a job'));
  }

  async function run(
    chain: Chain,
    given: PlanRequest,
    text: ChainText | undefined,
    watch: ChainWatch,
  ): Promise<ChainOutcome> {
    const request = chainRequest(chain, given, text, deps.require);
    const isAudioElsewhere = request.spec.audio.kind === 'held' && request.audio === undefined;
    const leftMs = given.deadlineAt - clock.now();
    if (leftMs <= 0) return OVERDUE;
    const limited = { ...request, waitMs: Math.min(request.waitMs, leftMs) };
    const outcome = isAudioElsewhere ? await findJob(limited, watch) : await dispatch(limited, watch);
    if (outcome.kind === 'refused') return refusedChain(outcome);
    watch.moved(outcome.job);
    let known: ChainText | undefined;
    const job = await settled(outcome.job, watch, (early) => {
      const texts = earlyOf(chain, outcome.job, early, text);
      if (texts === undefined) return false;
      watch.told(texts);
      if (texts.text.text !== '') known = texts.text;
      return known !== undefined;
    });
    if (job === 'lost' && known !== undefined) {
      // Another attempt could say something else than the client has read: the voice is made of the known text.
      cancel(outcome.job.jobId, 'its text is known', 'JOB_CANCELLED');
      return watch.isWanted() ? run(speechOf(chain), given, known, watch) : OVERDUE;
    }
    // The instance that accepted it died before a node had it: nothing was done, so it is requested again.
    if (job === 'gone') return watch.isWanted() ? run(chain, given, text, watch) : OVERDUE;
    if (job === undefined || job === 'lost') return OVERDUE;
    if (job.failure !== undefined) return { kind: 'failed', ...job.failure, job };
    return finished(chain, job, text);
  }

  return {
    run: (chain, request, text, watch) =>
      run(chain, request, text, watch).catch((fault: unknown) => {
        log.error(
          { request_id: request.name, chain: chain.stages.join('+'), err: fault },
          'a chain of a plan broke',
        );
        return { kind: 'failed', code: 'INTERNAL_ERROR', message: 'the job of this part could not be run' };
      }),
    cancel,
  };
}

const AUDIO_LOST: DispatchOutcome = {
  kind: 'refused',
  code: 'AUDIO_LOST',
  message: 'the instance that had its audio is gone',
};
const OVERDUE: ChainOutcome = {
  kind: 'failed',
  code: 'JOB_TIMEOUT',
  message: 'the deadline of the request passed before this part was done',
};

const refusedChain = ({
  code,
  message,
  hint,
  reasons,
  retryAfterMs,
}: Extract<DispatchOutcome, { kind: 'refused' }>): ChainOutcome => ({
  kind: 'failed',
  code,
  message,
  hint,
  reasons,
  retryAfterMs,
});

const speechOf = ({ target }: Chain): Chain => ({
  stages: ['tts'],
  input: 'text',
  source: target,
  target,
});

/** Undefined: the chain has no voice to wait for, or no text yet. */
function earlyOf(
  chain: Chain,
  job: JobRecord,
  early: EarlyText,
  before: ChainText | undefined,
): FinishedChain | undefined {
  const isSpoken = chain.stages.length > 1 && chain.stages.includes('tts');
  if (!isSpoken || (early.textAsr === '' && early.textTranslated === '')) return undefined;
  return { ...finished(chain, { ...job, result: { ...NO_RESULT, ...early } }, before), isSilent: false };
}

function finished({ stages, target }: Chain, job: JobRecord, before: ChainText | undefined): FinishedChain {
  const result = job.result ?? NO_RESULT;
  const { textAsr, textTranslated, details } = result;
  const isTranslated = stages.includes('nmt');
  const isSpeechOnly = stages.every((stage) => stage === 'tts');
  const own = isTranslated ? textTranslated : textAsr || textTranslated;
  const text = isSpeechOnly ? (before?.text ?? '') : own;
  const isRepaired = before !== undefined && stages.includes('semantic');
  const sourceText = before === undefined ? textAsr : isRepaired ? textAsr || own : before.sourceText;
  const detected =
    typeof details?.detected_language === 'string' ? foldLanguage(details.detected_language) : undefined;
  const sourceLanguage = before?.sourceLanguage ?? detected ?? job.spec.sourceLanguage;
  const language = isTranslated ? target : (before?.language ?? sourceLanguage);
  const isSilent = before === undefined && text === '' && result.ttsAudio === '';
  const timings = addTimings(before?.timings, result.extra?.service_timings as Timings | undefined);
  return {
    kind: 'finished',
    text: { text, language, sourceText, sourceLanguage, timings },
    result:
      timings === undefined ? result : { ...result, extra: { ...result.extra, service_timings: timings } },
    job,
    isSilent,
  };
}

/** The client waited for all of them. */
function addTimings(before: Timings | undefined, own: Timings | undefined): Timings | undefined {
  if (before === undefined || own === undefined) return own ?? before;
  const sums = { ...before };
  for (const [stage, ms] of Object.entries(own))
    if (Number.isFinite(ms)) sums[stage] = (sums[stage] ?? 0) + ms;
  return sums;
}

const NO_RESULT: JobResult = { textAsr: '', textTranslated: '', ttsAudio: '', ttsFormat: '' };
