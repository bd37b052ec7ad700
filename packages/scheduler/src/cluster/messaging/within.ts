/** An answer that is not waited for longer than it is worth. */
import { SchedulerError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';

/** Rejects with SCHEDULER_DEPENDENCY_DOWN after the limit; what was asked goes on, and its answer is dropped. */
export function within<T>(clock: Clock, limitMs: number, what: string, ask: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () =>
      reject(new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `no answer within ${limitMs} ms: ${what}`)),
    );
    ask().then(resolve, reject).finally(cancel);
  });
}
