/** Runs the stages of a job one after another on the engines, and says how the result was made. */
import { type JobAssign, type JobContext, JobError, type JobOutput } from '@lingua/sdk/node';
import { resample } from '../audio/resample.ts';
import { readWav, samplesOf } from '../audio/wav.ts';
import { type Engines, type Pair, SAMPLE_RATE } from '../engines/engines.ts';
import { repair } from '../repair/repair.ts';
import { chainOfJob, type JobChain, type Stage } from './chain-of-job.ts';
import { protectTerms } from './protect-terms.ts';

type Timings = Partial<Record<`${Stage}_ms`, number>>;

/** What the stages so far have made. */
interface Work {
  text: string;
  recognised?: string;
  repairedBy?: readonly string[];
  source?: string;
  translated?: string;
  /** Of the glossary. */
  used?: readonly string[];
  speech?: Int16Array;
  readonly models: Partial<Record<Stage, string>>;
  readonly timings: Timings;
}

export type RunChain = (job: JobAssign, context: JobContext) => Promise<JobOutput>;

export function createRunChain(engines: Engines): RunChain {
  const stages: Record<
    Stage,
    (work: Work, chain: JobChain, job: JobAssign, context: JobContext) => Promise<void>
  > = {
    async asr(work, { source }, job, { audio, signal, partial }) {
      const recognizer = engines.recognizers.find(({ languages }) => languages.includes(source));
      if (recognizer === undefined) throw missing('asr', source);
      work.models.asr = recognizer.model;
      work.text = await recognizer.recognize(soundOf(await audio(), job), source, signal);
      work.recognised = work.text;
      if (work.text !== '') partial(work.text, true);
    },
    async semantic(work, { source }) {
      const { text, rules } = repair(work.text, source);
      work.text = text;
      work.repairedBy = rules;
    },
    async nmt(work, { source, target }, { glossary }, { signal }) {
      const isMeant = (pair: Pair): boolean => pair.source === source && pair.target === target;
      const translator = engines.translators.find(({ pairs }) => pairs.some(isMeant));
      const pair = translator?.pairs.find(isMeant);
      if (translator === undefined || pair === undefined) throw missing('nmt', `${source}>${target}`);
      work.models.nmt = translator.model;
      work.source = pair.via === undefined ? translator.model : 'pivot';
      const terms = protectTerms(work.text, glossary?.terms ?? []);
      const translated = terms.restore(await translator.translate(terms.text, pair, signal));
      work.translated = translated ?? (await translator.translate(work.text, pair, signal));
      if (glossary !== undefined) work.used = translated === undefined ? [] : terms.used;
    },
    async tts(work, chain, _, { signal, texts }) {
      const { target, stages } = chain;
      const synthesizer = engines.synthesizers.find(({ languages }) => languages.includes(target));
      if (synthesizer === undefined) throw missing('tts', target);
      work.models.tts = synthesizer.model;
      if (stages.length > 1) texts(textsOf(work, chain));
      work.speech = await synthesizer.speak(work.translated ?? work.text, target, signal);
    },
  };

  return async (job, context) => {
    const chain = chainOfJob(job);
    const startedAt = performance.now();
    if (chain.stages[0] !== 'nmt' && chain.stages.includes('nmt')) prepareTranslation(engines, chain);
    const work: Work = { text: job.input_text ?? '', models: {}, timings: {} };
    for (const stage of chain.stages) {
      context.signal.throwIfAborted();
      const stageAt = performance.now();
      await stages[stage](work, chain, job, context);
      work.timings[`${stage}_ms`] = rounded(performance.now() - stageAt);
      // Nothing was understood: there is nothing to translate or to say.
      if (work.recognised === '') break;
    }
    return outputOf(work, chain, rounded(performance.now() - startedAt));
  };
}

/** Meanwhile the speech is recognised. */
function prepareTranslation({ translators }: Engines, { source, target }: JobChain): void {
  const translator = translators.find(({ pairs }) =>
    pairs.some((pair) => pair.source === source && pair.target === target),
  );
  translator?.prepare?.({ source, target });
}

function textsOf(work: Work, { stages }: JobChain): Pick<JobOutput, 'text_asr' | 'text_translated'> {
  const isHeard = work.recognised !== undefined || stages.includes('semantic');
  return {
    ...(isHeard ? { text_asr: work.text } : {}),
    ...(stages.includes('nmt') ? { text_translated: work.translated ?? '' } : {}),
  };
}

function outputOf(work: Work, chain: JobChain, total: number): JobOutput {
  const { speech } = work;
  return {
    ...textsOf(work, chain),
    ...(work.used === undefined ? {} : { glossary_used: [...work.used] }),
    ...(speech === undefined
      ? {}
      : {
          tts_audio: new Uint8Array(speech.buffer, speech.byteOffset, speech.byteLength),
          tts_format: 'pcm16',
        }),
    extra: {
      ...(work.recognised === '' ? { reason: 'ASR_EMPTY' as const } : {}),
      ...(work.source === undefined ? {} : { source: work.source }),
      ...(work.repairedBy === undefined ? {} : { repaired_by: work.repairedBy }),
      ...(work.recognised === undefined || work.recognised === work.text
        ? {}
        : { text_before_repair: work.recognised }),
      models: work.models,
      service_timings: { ...work.timings, total_ms: total },
    },
  };
}

/** The samples of the job's audio at the rate of the engines. */
function soundOf(
  bytes: Buffer,
  { audio_format: format, sample_rate: rate, padding_ms }: JobAssign,
): Float32Array {
  if (format === 'opus')
    throw new JobError('PROCESSING_ERROR', 'this node does not decode opus; send pcm16 or wav');
  try {
    const { samples, sampleRate } =
      format === 'wav' ? readWav(bytes) : { samples: samplesOf(bytes), sampleRate: rate };
    return padded(resample(samples, sampleRate, SAMPLE_RATE), padding_ms ?? 0);
  } catch (error) {
    throw new JobError('PROCESSING_ERROR', messageOf(error), undefined, { cause: error });
  }
}

const LONGEST_PADDING_MS = 2_000;

function padded(samples: Float32Array, paddingMs: number): Float32Array {
  const silence = Math.round((Math.min(Math.max(0, paddingMs), LONGEST_PADDING_MS) / 1_000) * SAMPLE_RATE);
  if (silence === 0) return samples;
  const longer = new Float32Array(samples.length + silence);
  longer.set(samples);
  return longer;
}

/** The scheduler then gives no more such jobs to this node. */
const missing = (stage: Stage, what: string): JobError =>
  new JobError('MODEL_NOT_AVAILABLE', `this node has no ${stage} for ${what}`, { service_id: stage });

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
