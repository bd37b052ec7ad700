/** Self-fencing: an instance that may have been declared dead neither reads nor writes the store until a renewal succeeds. */
import { SchedulerError } from '../../domain/errors.ts';

type Methods = Readonly<Record<string, unknown>>;

/** The same port, which rejects while fenced. `open`: methods that need no store. */
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
              'Redis has not answered for too long: this instance may have been declared dead',
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
