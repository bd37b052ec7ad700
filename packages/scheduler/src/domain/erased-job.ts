/** A job without what people said: its texts, its speech, and the address of its audio. Pure. */
import type { JobRecord } from './job.ts';
import type { JobResult } from './job-spec.ts';

/** Readers of a job recognise it by `extra.erased`. */
export const isErased = ({ extra }: Pick<JobResult, 'extra'>): boolean => extra?.erased === true;

/** Keeps what a repeated request and an operator need: ids, states, times and codes. */
export function eraseTexts(record: JobRecord): JobRecord {
  const { spec, result, failure } = record;
  const audio = spec.audio.kind === 'reference' ? { ...spec.audio, url: '' } : spec.audio;
  return {
    ...record,
    spec: { ...spec, audio, inputText: undefined, sourceText: undefined, contextText: undefined },
    failure: failure && { code: failure.code, message: 'erased' },
    result: result && { ...NOTHING_SAID, extra: { erased: true } },
  };
}

const NOTHING_SAID = { textAsr: '', textTranslated: '', ttsAudio: '', ttsFormat: '' };
