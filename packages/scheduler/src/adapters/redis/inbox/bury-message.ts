/** Typed wrapper of bury-message.lua. */

import type { TenantId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createBuryMessage(
  connection: RedisConnection,
  keys: Keys,
  settings: { group: string; maxDead: number; maxDeadOfTenant: number },
) {
  const run = loadScript(connection, import.meta.url, 'bury-message');
  const { group, maxDead, maxDeadOfTenant } = settings;
  /** False: the message was removed before. */
  return async (
    instanceId: string,
    { messageId, deliveries }: { messageId: string; deliveries: number },
    tenantId: TenantId | undefined,
  ): Promise<boolean> => {
    const [word] = await run(
      [keys.inbox(instanceId), keys.deadLetters(instanceId), keys.deadLetterTenants(instanceId)],
      [group, messageId, deliveries, tenantId ?? '', maxDead, maxDeadOfTenant],
    );
    return word !== 'absent';
  };
}
