/** Turns a translate request into a plan: for several languages, or for one whose stages no single node has. Pure. */
import type { TranslateRequest as Body } from '@lingua/protocol';
import type { DispatchRequest } from '../../../domain/dispatch.ts';
import { AUTO, foldLanguages, type Language } from '../../../domain/language.ts';
import { type PlanRequest, planOfJob } from '../../../domain/plan.ts';
import type { Body as TargetedBody } from './dispatch-request.ts';

type Invalid = { readonly kind: 'invalid'; readonly field: string; readonly message: string };

export type ReadPlan = { readonly kind: 'plan'; readonly plan: PlanRequest } | Invalid;

/** The first of several languages stands for all where a job or a reply names one. */
export function readTarget<B extends Pick<Body, 'tgt_lang' | 'tgt_langs'>>(
  body: B,
): { readonly kind: 'body'; readonly body: B & Pick<TargetedBody, 'tgt_lang'> } | Invalid {
  const { tgt_langs: languages, tgt_lang: target = languages?.[0] } = body;
  if (languages?.length === 0) return invalid('/tgt_langs', '"tgt_langs" must name at least one language');
  if (languages?.some((tag) => tag.toLowerCase() === AUTO))
    return invalid('/tgt_langs', '"tgt_langs" must name languages; only the source may be auto');
  if (target === undefined)
    return invalid('/tgt_lang', '"tgt_lang" is missing: name one target language, or several in "tgt_langs"');
  return { kind: 'body', body: { ...body, tgt_lang: target } };
}

/** `request`: what the body means as one job; it has a request id and a fingerprint. */
export function readPlan(body: Body, request: DispatchRequest, deadlineAt: number): ReadPlan {
  const { sourceLanguage, targetLanguage } = request.spec;
  const languages = foldLanguages(body.tgt_langs ?? [targetLanguage]);
  if (!languages.includes(targetLanguage))
    return invalid('/tgt_lang', '"tgt_lang" must be one of "tgt_langs"');
  if (body.text !== undefined && languages.includes(sourceLanguage))
    return invalid('/tgt_langs', `"tgt_langs" names ${sourceLanguage}, the language of "text"`);
  const odd = whatDoesNotGoWithPlans(body);
  if (odd !== undefined) return odd;
  return { kind: 'plan', plan: planOf(body, request, languages, deadlineAt) };
}

/** The stages of such a request are chosen by the planner, and run on several nodes. */
export function whatDoesNotGoWithPlans(body: Body): Invalid | undefined {
  if (body.pipeline !== undefined)
    return invalid(
      '/pipeline',
      '"pipeline" does not go with "tgt_langs": the scheduler chooses the stages, and options.require_tts asks for voices',
    );
  if (body.lang_a !== undefined || (body.mode !== undefined && body.mode !== 'one_way'))
    return invalid('/mode', '"tgt_langs" needs one speaker: omit mode, lang_a and lang_b');
  if (body.options?.preferred_node_id !== undefined)
    return invalid(
      '/options/preferred_node_id',
      '"preferred_node_id" does not go with "tgt_langs": several nodes may do the work',
    );
  return undefined;
}

function planOf(
  body: Body,
  request: DispatchRequest,
  languages: readonly Language[],
  deadlineAt: number,
): PlanRequest {
  const { requestId = '', fingerprint = '' } = request;
  const isVoiceWanted = body.options?.require_tts === true;
  return planOfJob(request, {
    // Ids from outside have no slash, so the plan of a session cannot have this name.
    name: `r/${requestId}`,
    fingerprint,
    wanted: languages.map((language) => ({ language, isVoiceWanted })),
    deadlineAt,
  });
}

const invalid = (field: string, message: string) => ({ kind: 'invalid', field, message }) as const;
