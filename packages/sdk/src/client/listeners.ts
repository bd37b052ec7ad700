/** The listeners of a session. A listener that throws affects neither the session nor the other listeners. */
import type { SessionEvent, SessionEventName } from './session-events.ts';

export type Listener<Name extends SessionEventName> = (event: SessionEvent<Name>) => void;

export interface Listeners {
  /** Returns a function that removes the listener. */
  on<Name extends SessionEventName>(name: Name, listener: Listener<Name>): () => void;
  emit(event: SessionEvent): void;
}

export function createListeners(onListenerError: (error: unknown, event: SessionEvent) => void): Listeners {
  const byName = new Map<string, Set<(event: never) => void>>();

  function fault(error: unknown, event: SessionEvent): void {
    try {
      onListenerError(error, event);
    } catch {
      // There is no other place to report it.
    }
  }

  return {
    on(name, listener) {
      // One wrapper per call, so that a function that was added twice is called twice and removed once.
      const added = (event: SessionEvent<typeof name>): void => listener(event);
      const listeners = byName.get(name) ?? new Set();
      byName.set(name, listeners.add(added));
      return () => {
        listeners.delete(added);
      };
    },
    emit(event) {
      // A copy: listeners may be added or removed during the calls.
      for (const listener of [...(byName.get(event.type) ?? [])]) {
        try {
          const answer: unknown = (listener as (event: SessionEvent) => unknown)(event);
          if (answer instanceof Promise) answer.catch((error: unknown) => fault(error, event));
        } catch (error) {
          fault(error, event);
        }
      }
    },
  };
}
