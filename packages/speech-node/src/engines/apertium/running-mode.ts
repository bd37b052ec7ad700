/** One Apertium mode as running processes: started by the first text, kept for the next ones, restarted after a fault. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { JobError } from '@lingua/sdk/node';
import { createTurns } from '../turns.ts';
import { fromStream, toStream } from './mode-command.ts';

export interface RunningMode {
  /** Starts its processes, unless they run. */
  start(): void;
  translate(text: string, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface ModeLimits {
  readonly waiting: number;
  readonly textLength: number;
  /** A pipeline that does not answer within this time is ended. */
  readonly answerMs: number;
}

/** A reply is not much longer than its text; more means that the pipeline is out of step. */
const LONGEST_REPLY_BYTES = 1024 * 1024;

export function createRunningMode(name: string, command: string, limits: ModeLimits): RunningMode {
  const turns = createTurns({ engine: `Apertium ${name}`, atOnce: 1, waiting: limits.waiting });
  let pipeline: ChildProcess | undefined;

  function start(): ChildProcess {
    // Its own process group, so that all programs of the pipeline are ended together.
    const started = spawn('/bin/sh', ['-c', command], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Without listeners an error of a broken pipe would end this process; the answer's own listeners report it.
    started.on('error', () => {});
    started.stdin?.on('error', () => {});
    // If one of its programs ends, those after it end, too; those before it would wait for ever.
    started.stdout?.on('end', () => {
      if (pipeline === started) end();
    });
    return started;
  }

  function end(): void {
    const ended = pipeline;
    pipeline = undefined;
    if (ended?.pid === undefined) return;
    try {
      process.kill(-ended.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }

  async function answerTo(text: string, signal: AbortSignal): Promise<string> {
    pipeline ??= start();
    try {
      return fromStream(await exchange(pipeline, toStream(text), signal, limits.answerMs));
    } catch (error) {
      // Its next answer would belong to this text.
      end();
      if (signal.aborted) throw signal.reason;
      throw new JobError('PROCESSING_ERROR', `Apertium ${name}: ${messageOf(error)}`, undefined, {
        cause: error,
      });
    }
  }

  return {
    start() {
      pipeline ??= start();
    },
    async translate(text, signal) {
      signal.throwIfAborted();
      if (text.length > limits.textLength)
        throw new JobError('PROCESSING_ERROR', `the text is longer than ${limits.textLength} characters`);
      if (text.trim() === '') return '';
      return turns.take(signal, () => answerTo(text, signal));
    },
    async close() {
      turns.close();
      const ended = pipeline;
      // `close` comes after the last program has ended.
      const isOver = ended === undefined ? undefined : once(ended, 'close');
      end();
      await isOver;
    },
  };
}

/** Writes one text and reads up to the NUL that ends its answer. */
function exchange(
  pipeline: ChildProcess,
  written: string,
  signal: AbortSignal,
  answerMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const read = (part: Buffer): void => {
      const end = part.indexOf(0);
      parts.push(end < 0 ? part : part.subarray(0, end));
      bytes += part.length;
      if (end >= 0) finish(() => resolve(Buffer.concat(parts).toString()));
      else if (bytes > LONGEST_REPLY_BYTES) fail(new Error('the answer does not end'));
    };
    const fail = (error: Error): void => finish(() => reject(error));
    const stop = (): void => fail(signal.reason);
    const left = (): void => fail(new Error('it has ended; is the language pair installed completely?'));
    const timer = setTimeout(() => fail(new Error(`no answer within ${answerMs} ms`)), answerMs);
    function finish(report: () => void): void {
      clearTimeout(timer);
      pipeline.stdout?.off('data', read);
      pipeline.stdout?.off('end', left);
      pipeline.off('error', fail);
      signal.removeEventListener('abort', stop);
      report();
    }
    pipeline.stdout?.on('data', read);
    pipeline.stdout?.once('end', left);
    pipeline.once('error', fail);
    signal.addEventListener('abort', stop, { once: true });
    pipeline.stdin?.write(written);
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
