/** Prints the answers of a plan: the one of `tgt_lang` as for a single language, and one per language. Pure. */
import type { TranslatePending, TranslateReply } from '@lingua/protocol';
import { errorEntry, isErrorCode } from '../../../domain/errors.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { Language } from '../../../domain/language.ts';
import type { PartOutcome, PlanRequest } from '../../../domain/plan.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { outcomeOf, type PlanAnswers } from '../requests/run-plan-request.ts';
import { viewResult } from './job-view.ts';

type Target = NonNullable<TranslateReply['targets']>[number];

/** Undefined: no job of the plan is known. */
export const jobOf = (answers: PlanAnswers, language: Language): JobRecord | undefined =>
  outcomeOf(answers, language, 'text')?.job ?? [...answers.jobs.values()].at(-1);

export function viewPlan(
  plan: Pick<PlanRequest, 'source' | 'wanted'>,
  language: Language,
  answers: PlanAnswers,
  jobId: string,
): Omit<TranslateReply, 'targets' | 'request_id' | 'warnings'> {
  const text = outcomeOf(answers, language, 'text');
  const voice = outcomeOf(answers, language, 'voice');
  const speech = voice?.kind === 'result' ? voice.result : undefined;
  return omitUndefined({
    job_id: jobId,
    src_lang: plan.source,
    tgt_lang: language,
    ...(text?.kind === 'result' && viewResult(text.result)),
    ...(speech !== undefined && { tts_audio: speech.ttsAudio, tts_format: speech.ttsFormat }),
  });
}

export const viewTargets = ({ wanted }: Pick<PlanRequest, 'wanted'>, answers: PlanAnswers): Target[] =>
  wanted.map(({ language, isVoiceWanted }): Target => {
    const text = outcomeOf(answers, language, 'text');
    return omitUndefined({
      tgt_lang: language,
      ...viewPart(text),
      ...(text?.kind === 'result' && {
        text_asr: text.result.textAsr,
        text_translated: text.result.textTranslated,
        glossary_used: text.result.details?.glossary_used as string[] | undefined,
      }),
      voice: isVoiceWanted ? viewVoice(outcomeOf(answers, language, 'voice')) : undefined,
    });
  });

function viewVoice(voice: PartOutcome | undefined): NonNullable<Target['voice']> {
  const speech = voice?.kind === 'result' ? voice.result : undefined;
  return omitUndefined({
    ...viewPart(voice),
    ...(speech !== undefined && { tts_audio: speech.ttsAudio, tts_format: speech.ttsFormat }),
  });
}

const viewPart = (
  outcome: PartOutcome | undefined,
): Pick<Target, 'state' | 'job_id' | 'error' | 'retry_after_ms'> =>
  omitUndefined({
    state: stateOf(outcome),
    job_id: outcome?.job?.jobId,
    ...(outcome?.kind === 'failed' && {
      error: { code: outcome.code, message: outcome.message },
      retry_after_ms: retryAfterOf(outcome),
    }),
  });

const stateOf = (outcome: PartOutcome | undefined): Target['state'] => {
  if (outcome === undefined) return 'open';
  return outcome.kind === 'result' ? 'done' : 'failed';
};

const RETRY_AFTER_MS = 1_000;

/** As for a single job: `null` means that a retry alone does not help. */
function retryAfterOf({ code, retryAfterMs }: Extract<PartOutcome, { kind: 'failed' }>): number | undefined {
  if (retryAfterMs !== undefined) return retryAfterMs ?? undefined;
  return isErrorCode(code) && errorEntry(code).isTransient === true ? RETRY_AFTER_MS : undefined;
}

export const viewPendingPlan = (
  { jobId, state }: JobRecord,
  targets: Target[] | undefined,
): Pick<TranslatePending, 'job_id' | 'state' | 'url' | 'targets'> =>
  omitUndefined({ job_id: jobId, state, url: `/v1/job/${jobId}`, targets });
