/** Self-fencing: an instance that may have been taken for dead asks its store nothing and writes nothing until it knows better. */
import { SchedulerError } from '../../domain/errors.ts';

type Methods = Readonly<Record<string, unknown>>;

/** The same port, which refuses while fenced. `open`: what asks nobody and answers at once. */
export function unlessFenced<Port extends object>(
  port: Port,
  isFenced: () => boolean,
  open: readonly (keyof Port)[] = [],
): Port {
  const guarded = Object.entries(port as Methods).map(([name, method]) => {
    if (typeof method !== 'function' || (open as readonly string[]).includes(name)) return [name, method];
    return [
      name,
      (...given: unknown[]) => {
        if (isFenced()) {
          return Promise.reject(
            new SchedulerError(
              'SCHEDULER_DEPENDENCY_DOWN',
              'the store has not answered for too long: this instance may have been taken for dead',
              { isUnsent: true },
            ),
          );
        }
        return method(...given);
      },
    ];
  });
  return Object.fromEntries(guarded) as Port;
}
