/** Simulation: hints between instances, which may be lost: one channel per instance and one for all. */
import type { HintBus } from '../../../scheduler/dist/ports/hint-bus.js';
import type { Lines } from './servers/lines.ts';
import { keys, tags } from './servers/tags.ts';

const COMMON = tags.key(keys.commonHints);
const hintsTo = (instanceId: string): string => `whispers:${instanceId}`;

export function createHintBus(deps: {
  lines: Lines;
  onFault?: ((fault: unknown) => void) | undefined;
}): HintBus {
  const { lines } = deps;
  return {
    send: (to, text) => lines.publish(tags.instance(to), hintsTo(to), text),
    sendToAll: (text) => lines.publish(COMMON, keys.commonHints, text),
    async subscribe(instanceId, receive) {
      const hearText = (said: unknown): void => {
        try {
          receive(said as string);
        } catch (fault) {
          deps.onFault?.(fault);
        }
      };
      const ears = await Promise.allSettled([
        lines.subscribe(tags.instance(instanceId), hintsTo(instanceId), hearText),
        lines.subscribe(COMMON, keys.commonHints, hearText),
      ]);
      const stop = (): void => {
        for (const ear of ears) if (ear.status === 'fulfilled') ear.value();
      };
      for (const ear of ears) {
        if (ear.status === 'fulfilled') continue;
        stop();
        throw ear.reason;
      }
      return async () => stop();
    },
  };
}
