/** What stands before the store: an instance that may have been taken for dead asks and writes nothing, and nobody waits for a store that is away. */
import { SchedulerError } from '../domain/errors.ts';
import type { Outage } from './outage.ts';

type Methods = Readonly<Record<string, (...given: unknown[]) => unknown>>;

export interface Guard {
  /** Self-fencing: nothing until it knows better. */
  readonly isFenced: () => boolean;
  readonly outage: Pick<Outage, 'isOn' | 'noticed'>;
}

/** The same port, which refuses while it must not or cannot be asked. `open`: what asks nobody and answers at once. */
export function guarded<Port extends object>(
  port: Port,
  { isFenced, outage }: Guard,
  open: readonly (keyof Port)[] = [],
): Port {
  const refusal = (): string | undefined => {
    if (isFenced()) return FENCED;
    return outage.isOn() ? AWAY : undefined;
  };
  const guardedMethods = Object.entries(port as Methods).map(([name, method]) => {
    if (typeof method !== 'function' || (open as readonly string[]).includes(name)) return [name, method];
    const ask = async (...given: unknown[]): Promise<unknown> => {
      const reason = refusal();
      if (reason !== undefined) throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', reason);
      try {
        return await method(...given);
      } catch (fault) {
        if (isDown(fault)) outage.noticed();
        throw fault;
      }
    };
    return [name, ask];
  });
  return Object.fromEntries(guardedMethods) as Port;
}

const isDown = (fault: unknown): boolean =>
  fault instanceof SchedulerError && fault.code === 'SCHEDULER_DEPENDENCY_DOWN';

const FENCED = 'the store has not answered for too long: this instance may have been taken for dead';
const AWAY = 'the store does not answer';
