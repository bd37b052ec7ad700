/** Words between instances of one process: the readable specification of those on Redis. */
import type { HintBus } from '../../ports/hint-bus.ts';

export function createHintBus(deps: { onFault?: (fault: unknown) => void } = {}): HintBus {
  const listeners = new Set<{ readonly instanceId: string; readonly hear: (text: string) => void }>();

  function tell(text: string, isMeant: (instanceId: string) => boolean): void {
    queueMicrotask(() => {
      for (const { instanceId, hear } of listeners) {
        if (!isMeant(instanceId)) continue;
        try {
          hear(text);
        } catch (fault) {
          deps.onFault?.(fault);
        }
      }
    });
  }

  return {
    say: (to, text) => tell(text, (instanceId) => instanceId === to),
    sayToAll: (text) => tell(text, () => true),
    async listen(instanceId, hear) {
      const listener = { instanceId, hear };
      listeners.add(listener);
      return async () => {
        listeners.delete(listener);
      };
    },
  };
}
