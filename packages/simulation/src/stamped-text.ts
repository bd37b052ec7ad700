/** What a node makes of its input: the words, and each step that led to this text. A result at a client thus names the runs that made it. */
import type { JobAssign } from '@lingua/protocol';
import type { DeliveredResult, Run, WorkStep } from './history.ts';

const MARK = '|';

export const stamp = (text: string, { stages, to, node, job, attempt }: WorkStep): string =>
  `${text}${MARK}${stages} ${to} ${node} ${job} ${attempt}`;

export function readStamped(text: string): DeliveredResult {
  const [words = '', ...rest] = text.split(MARK);
  const steps = rest.map((step): WorkStep => {
    const [stages = '', to = '', node = '', job = '', attempt] = step.split(' ');
    return { stages, to, node, job, attempt: Number(attempt) };
  });
  return { words, by: steps.at(-1), steps };
}

/** Of the fields of a result, the one that its last step made. */
export const readResult = (result: {
  readonly text_asr?: string | undefined;
  readonly text_translated?: string | undefined;
  readonly tts_audio?: string | undefined;
}): DeliveredResult =>
  readStamped(result.text_translated || result.text_asr || readVoice(result.tts_audio ?? ''));

export const readVoice = (audio: string): string => Buffer.from(audio, 'base64').toString();

/** What a node must do with a job. */
export interface Chain {
  readonly stages: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** Legacy nodes read the pipeline only. */
export function chainOf({ stages, pipeline, src_lang: from, tgt_lang: to }: JobAssign): Chain {
  const flags = {
    asr: pipeline.use_asr,
    semantic: pipeline.use_semantic,
    nmt: pipeline.use_nmt,
    tts: pipeline.use_tts,
  };
  const wanted = (Object.keys(flags) as (keyof typeof flags)[]).filter((stage) => flags[stage] === true);
  return { stages: stages ?? wanted, from, to };
}

/** What a node returns. `text`: its input, or what it heard. */
export function perform(
  text: string,
  { stages, from, to }: Chain,
  run: Run,
): { text_asr: string; text_translated: string; tts_audio: string; tts_format: string } {
  const upTo = (...known: readonly string[]): string =>
    stages.filter((stage) => known.includes(stage)).join('+');
  const [source, translated] = [upTo('asr', 'semantic'), upTo('asr', 'semantic', 'nmt')];
  const voice = stages.includes('tts') ? stamp(text, { ...run, stages: stages.join('+'), to }) : '';
  return {
    text_asr: source === '' ? '' : stamp(text, { ...run, stages: source, to: from }),
    text_translated: stages.includes('nmt') ? stamp(text, { ...run, stages: translated, to }) : '',
    tts_audio: Buffer.from(voice).toString('base64'),
    tts_format: 'pcm16',
  };
}
