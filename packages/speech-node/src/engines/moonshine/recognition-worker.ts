/** The worker thread of a Moonshine recogniser: one speech at a time, and it can be told to stop. */
import { parentPort, workerData } from 'node:worker_threads';
import { MODELS } from '../../setup/parts.ts';
import { type Decoder, loadDecoder } from './decode.ts';

export interface WorkerTask {
  readonly id: number;
  readonly language: string;
  readonly speech: Float32Array;
}
export type ToWorker =
  | { readonly kind: 'task'; readonly task: WorkerTask }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Ends the thread after what it does. Ending it from outside, in the middle of the runtime's work, crashes the process. */
  | { readonly kind: 'close' };
export type FromWorker =
  | { readonly kind: 'ready' }
  /** Without a text: it was cancelled. */
  | { readonly kind: 'done'; readonly id: number; readonly text: string | undefined }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };

export interface WorkerSetting {
  readonly folder: string;
  readonly languages: readonly string[];
}

const { folder, languages } = workerData as WorkerSetting;
const decoders = new Map<string, Decoder>();
for (const model of MODELS.filter(({ language }) => languages.includes(language)))
  decoders.set(model.language, await loadDecoder(folder, model));

let running: number | undefined;
let cancelled: number | undefined;
let isClosing = false;
const send = (message: FromWorker): void => parentPort?.postMessage(message);

async function work({ id, language, speech }: WorkerTask): Promise<void> {
  running = id;
  try {
    const decoder = decoders.get(language);
    if (decoder === undefined) throw new Error(`no model for ${language} is loaded`);
    send({ kind: 'done', id, text: await decoder(speech, () => cancelled === id || isClosing) });
  } catch (error) {
    send({ kind: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  }
  running = undefined;
  if (isClosing) parentPort?.close();
}

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'task') void work(message.task);
  else if (message.kind === 'cancel') cancelled = message.id;
  else {
    isClosing = true;
    if (running === undefined) parentPort?.close();
  }
});
send({ kind: 'ready' });
