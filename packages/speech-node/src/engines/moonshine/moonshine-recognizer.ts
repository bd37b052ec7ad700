/** Speech recognition by Moonshine models, in worker threads: usually one per core. */
import { availableParallelism } from 'node:os';
import { JobError } from '@lingua/sdk/node';
import { hasSpeech } from '../../audio/has-speech.ts';
import { missingParts } from '../../setup/cache-folder.ts';
import { type Model, partsFor } from '../../setup/parts.ts';
import { type Recognizer, SAMPLE_RATE } from '../engines.ts';
import { createTurns } from '../turns.ts';
import { createModelWorker, type ModelWorker } from './model-worker.ts';

export interface MoonshineOptions {
  /** The cache folder of the set-up. */
  readonly folder: string;
  readonly models: readonly Model[];
  readonly workers?: number;
  /** Calls that may wait for a worker. */
  readonly waiting?: number;
}

/** The model was trained on short speech. */
const LONGEST_SECONDS = 60;

/** Resolves when the models are loaded. */
export async function createMoonshineRecognizer({
  folder,
  models,
  workers: count = availableParallelism(),
  waiting = 8,
}: MoonshineOptions): Promise<Recognizer> {
  const missing = await missingParts(folder, partsFor(models));
  if (missing.length > 0)
    throw new Error(
      `speech recognition is not set up: ${missing.map(({ title }) => title).join(', ')} missing in ${folder}; run "lingua-speech-node --set-up"`,
    );
  const languages = models.map(({ language }) => language);
  const turns = createTurns({ engine: 'Moonshine', atOnce: count, waiting });
  const workers = Array.from({ length: count }, () => createModelWorker({ folder, languages }));
  const free: ModelWorker[] = [...workers];
  try {
    await Promise.all(workers.map((worker) => worker.ready()));
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.close()));
    throw error;
  }

  return {
    model: models.map(({ name }) => name).join('+'),
    languages,
    async recognize(speech, language, signal) {
      signal.throwIfAborted();
      if (!languages.includes(language))
        throw new TypeError(`there is no Moonshine model for ${language} here`);
      if (speech.length > LONGEST_SECONDS * SAMPLE_RATE)
        throw new JobError('PROCESSING_ERROR', `the speech is longer than ${LONGEST_SECONDS} seconds`);
      return turns.take(signal, async () => {
        if (!hasSpeech(speech)) return '';
        // As many as there are turns.
        const worker = free.pop() as ModelWorker;
        try {
          return await worker.recognize(speech, language, signal);
        } finally {
          free.push(worker);
        }
      });
    },
    async close() {
      turns.close();
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}
