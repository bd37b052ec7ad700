/** Hints between instances by pub/sub: one channel per instance and one for all. */
import type { HintBus } from '../../ports/hint-bus.ts';
import { createChannels } from './connection/channels.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { PLAIN, type SealedPayload } from './sealed-payload.ts';

export function createHintBus(deps: {
  connection: RedisConnection;
  /** For subscriptions only. */
  subscriber: RedisConnection;
  keys: Keys;
  payload?: SealedPayload;
  onFault?: (fault: unknown) => void;
}): HintBus {
  const { keys, payload = PLAIN } = deps;
  const channels = createChannels(deps);

  function publish(channel: string, text: string): void {
    // A lost hint is not sent again.
    channels.publish(channel, payload.seal(text)).catch(() => undefined);
  }

  return {
    send: (to, text) => publish(keys.instanceHints(to), text),
    sendToAll: (text) => publish(keys.commonHints, text),
    subscribe: (instanceId, receive) =>
      asDependency('subscribing to hints', async () => {
        const own = [keys.instanceHints(instanceId), keys.commonHints];
        const subscription = await channels.subscribe(own, (_, text) => {
          try {
            receive(payload.open(text));
          } catch (fault) {
            deps.onFault?.(fault);
          }
        });
        return () => subscription.close();
      }),
  };
}
