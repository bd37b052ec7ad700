/** A worker thread that recognises, seen from the main thread: one call at a time, started again after a crash. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { JobError } from '@lingua/sdk/node';
import type { FromWorker, ToWorker, WorkerSetting } from './recognition-worker.ts';

export interface ModelWorker {
  /** Resolves when the model is loaded. */
  ready(): Promise<void>;
  recognize(speech: Float32Array, language: string, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** Node.js 20 runs compiled files only, so tests of the sources use the compiled worker, too. */
const FILE = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/engines/moonshine/recognition-worker.js'
    : './recognition-worker.js',
  import.meta.url,
);

export function createModelWorker(setting: WorkerSetting): ModelWorker {
  let current: { readonly worker: Worker; readonly ready: Promise<void> } | undefined;
  let lastId = 0;
  let isClosed = false;

  function start(): NonNullable<typeof current> {
    const worker = new Worker(FILE, { workerData: setting });
    const ready = answerOf(worker, ({ kind }) => kind === 'ready').then(() => {});
    ready.catch(() => {});
    const started = { worker, ready };
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (current === started) current = undefined;
    });
    return started;
  }

  async function recognize(speech: Float32Array, language: string, signal: AbortSignal): Promise<string> {
    if (isClosed) throw failure('it is closed');
    current ??= start();
    const { worker, ready } = current;
    await ready;
    signal.throwIfAborted();
    lastId += 1;
    const id = lastId;
    const send = (message: ToWorker): void => worker.postMessage(message);
    const cancel = (): void => send({ kind: 'cancel', id });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answer = answerOf(worker, (message) => message.kind !== 'ready' && message.id === id);
      send({ kind: 'task', task: { id, language, speech } });
      const message = await answer;
      // Also after an abort the worker's own answer is awaited: until then it is not free for the next call.
      signal.throwIfAborted();
      if (message.kind !== 'done') throw new JobError('PROCESSING_ERROR', `Moonshine: ${textOf(message)}`);
      // Without a text although no abort stopped it: the worker closes.
      if (message.text === undefined) throw failure('it is closed');
      return message.text;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  return {
    ready() {
      current ??= start();
      return current.ready;
    },
    recognize,
    async close() {
      isClosed = true;
      const ended = current?.worker;
      if (ended === undefined) return;
      const isOver = once(ended, 'exit');
      ended.postMessage({ kind: 'close' } satisfies ToWorker);
      await isOver;
    },
  };
}

/** Rejects if the worker ends before it answers. */
async function answerOf(worker: Worker, isMeant: (message: FromWorker) => boolean): Promise<FromWorker> {
  const over = new AbortController();
  const { signal } = over;
  try {
    return await new Promise<FromWorker>((resolve, reject) => {
      const read = (message: FromWorker): void => {
        if (isMeant(message)) resolve(message);
      };
      worker.on('message', read);
      signal.addEventListener('abort', () => worker.off('message', read));
      // `once` of an event called "error" resolves here instead of rejecting.
      void once(worker, 'error', { signal }).then(([error]) => reject(failure(String(error))), reject);
      void once(worker, 'exit', { signal }).then(
        () => reject(failure('its thread has ended')),
        () => {},
      );
    });
  } finally {
    over.abort();
  }
}

const failure = (why: string): JobError => new JobError('PROCESSING_ERROR', `Moonshine: ${why}`);
const textOf = (message: FromWorker): string => (message.kind === 'failed' ? message.message : message.kind);
