/** Bounds how many calls an engine runs at once and how many wait; further ones are refused. Waiting calls can be aborted. */
import { JobError } from '@lingua/sdk/node';

export interface Turns {
  /** Runs `work` as soon as there is room. Rejects with the reason of the signal if it is aborted before. */
  take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
  /** Rejects all waiting calls and every later one. */
  close(): void;
}

export function createTurns(limits: {
  readonly engine: string;
  readonly atOnce: number;
  readonly waiting: number;
}): Turns {
  const queue: { readonly start: () => void; readonly refuse: (error: Error) => void }[] = [];
  let running = 0;
  let isClosed = false;

  const closed = (): Error => new JobError('PROCESSING_ERROR', `${limits.engine} is closed`);

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(turn), 1);
        reject(signal.reason);
      };
      const turn = {
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
        refuse: (error: Error) => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.push(turn);
    });
  }

  return {
    async take(signal, work) {
      signal.throwIfAborted();
      if (isClosed) throw closed();
      if (running < limits.atOnce) running += 1;
      else {
        if (queue.length >= limits.waiting)
          throw new JobError('NODE_OVERLOADED', `${limits.engine} has ${queue.length} waiting calls`, {
            running,
            max: limits.atOnce,
          });
        // The call that ends passes its place on, so `running` stays as it is.
        await wait(signal);
      }
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next === undefined) running -= 1;
        else next.start();
      }
    },
    close() {
      isClosed = true;
      for (const turn of queue.splice(0)) turn.refuse(closed());
    },
  };
}
