/** Which stages a job asks for, and in which languages. Pure. */
import { type JobAssign, JobError } from '@lingua/sdk/node';

export const STAGES = ['asr', 'semantic', 'nmt', 'tts'] as const;
export type Stage = (typeof STAGES)[number];

export interface JobChain {
  readonly stages: readonly Stage[];
  /** ISO 639-1, without a region. */
  readonly source: string;
  readonly target: string;
}

/** A scheduler that knows stages names them; otherwise they follow from the pipeline and from the kind of the input. */
export function chainOfJob(job: JobAssign): JobChain {
  const { pipeline, input_text: text, stages } = job;
  const named = stages ?? [
    // Recognised speech is always repaired, whatever the pipeline says.
    ...(text === undefined
      ? (['asr', 'semantic'] as const)
      : pipeline.use_semantic === true
        ? (['semantic'] as const)
        : []),
    ...(pipeline.use_nmt ? (['nmt'] as const) : []),
    ...(pipeline.use_tts ? (['tts'] as const) : []),
  ];
  const [source, target] = [languageOf(job.src_lang), languageOf(job.tgt_lang)];
  if (source === 'auto')
    throw new JobError('PROCESSING_ERROR', 'this node does not recognise the language; name src_lang', {
      reason: 'no language identification',
    });
  if (named.length === 0) throw new JobError('PROCESSING_ERROR', 'the job names no stage');
  if (named.includes('asr') !== (text === undefined))
    throw new JobError(
      'PROCESSING_ERROR',
      'recognition needs audio, and every other first stage needs input_text',
    );
  return { stages: STAGES.filter((stage) => named.includes(stage)), source, target };
}

/** `es-MX` → `es`. */
const languageOf = (tag: string): string => tag.toLowerCase().split('-')[0] ?? tag;
