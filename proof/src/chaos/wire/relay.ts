/** One direction of a connection that can be slow or stop: everything arrives, in order, when it is let through. */
import { Transform } from 'node:stream';

/** The current delay. Read for every chunk. */
export interface Weather {
  /** Infinity: nothing passes until `changed`. */
  delayMs(): number;
  /** Calls back each time the delay changes, until cancelled. */
  onChange(run: () => void): () => void;
}

export interface Sky extends Weather {
  set(delayMs: number): void;
}

export function createSky(): Sky {
  const listeners = new Set<() => void>();
  let current = 0;
  return {
    delayMs: () => current,
    onChange(run) {
      listeners.add(run);
      return () => void listeners.delete(run);
    },
    set(delayMs) {
      current = delayMs;
      for (const run of [...listeners]) run();
    },
  };
}

/** Resolves when something could pass. */
export function cleared(weather: Weather): Promise<void> {
  if (weather.delayMs() !== Number.POSITIVE_INFINITY) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = weather.onChange(() => {
      if (weather.delayMs() === Number.POSITIVE_INFINITY) return;
      cancel();
      resolve();
    });
  });
}

interface Piece {
  readonly bytes: Buffer;
  readonly arrivedAt: number;
}

/** More than this under way is not read until some of it has arrived. */
const MOST_BYTES = 1 << 20;

export function createRelay(weather: Weather): Transform {
  const queue: Piece[] = [];
  let queued = 0;
  let timer: NodeJS.Timeout | undefined;
  let takeMore: (() => void) | undefined;
  let finish: (() => void) | undefined;

  function release(): void {
    clearTimeout(timer);
    timer = undefined;
    const delayMs = weather.delayMs();
    for (let piece = queue[0]; piece !== undefined; piece = queue[0]) {
      const dueMs = piece.arrivedAt + delayMs - performance.now();
      if (dueMs > 0) {
        if (dueMs !== Number.POSITIVE_INFINITY) timer = setTimeout(release, Math.ceil(dueMs));
        break;
      }
      queue.shift();
      queued -= piece.bytes.length;
      relay.push(piece.bytes);
    }
    if (queued < MOST_BYTES) resume();
    if (queue.length === 0) finish?.();
  }

  function resume(): void {
    const go = takeMore;
    takeMore = undefined;
    go?.();
  }

  const relay = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      if (queue.length === 0 && weather.delayMs() === 0) {
        done(null, bytes);
        return;
      }
      queue.push({ bytes, arrivedAt: performance.now() });
      queued += bytes.length;
      if (queued < MOST_BYTES) done();
      else takeMore = () => done();
      if (queue.length === 1) release();
    },
    flush(done) {
      if (queue.length === 0) done();
      else finish = () => done();
    },
    destroy(error, done) {
      clearTimeout(timer);
      cancel();
      done(error);
    },
  });
  const cancel = weather.onChange(release);
  return relay;
}
