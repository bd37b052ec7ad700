/** Cold path, at the start: whether this user of Redis may say and hear on the channels by which instances tell one another what changed. */
import { SchedulerError } from '../../../domain/errors.ts';
import { type Keys, NOTICE_PARTS } from '../keys.ts';
import { createChannels } from './channels.ts';
import type { RedisConnection } from './redis-connection.ts';
import { mastersOf } from './servers.ts';

/** Notices of no change: whoever hears it has nothing to do. */
const NOTHING = '[]';

/**
 * Throws SCHEDULER_DEPENDENCY_DOWN, with the line that mends it, if the user may not. A deaf instance would take no node for gone,
 * and learn late of those that come. A server that does not answer now is no reason: it is heard when it is back.
 */
export async function inspectRights(deps: {
  connection: RedisConnection;
  /** Only listens. */
  ear: RedisConnection;
  keys: Pick<Keys, 'nodeNotices'>;
  /** Of all channels. */
  prefix: string;
}): Promise<void> {
  const { keys, prefix, connection } = deps;
  const channels = createChannels(deps);
  const notices = Array.from({ length: NOTICE_PARTS }, (_, part) => keys.nodeNotices(part));
  const listening = channels.subscribe(notices, () => undefined);
  const tries = await Promise.allSettled([
    listening,
    ...notices.map((channel) => channels.publish(channel, NOTHING)),
  ]);
  await listening.then((each) => each.close()).catch(() => undefined);
  const refusal = tries.flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])).find(isRefusal);
  if (refusal === undefined) return;
  const user = mastersOf(connection)[0]?.options.username ?? 'default';
  throw new SchedulerError(
    'SCHEDULER_DEPENDENCY_DOWN',
    `Redis does not let the user ${user} publish and subscribe on the channels ${prefix}:* (${refusal.message}). ` +
      `Allow it on every server with: ACL SETUSER ${user} resetchannels &${prefix}:* +@pubsub`,
    { cause: refusal },
  );
}

const isRefusal = (fault: unknown): fault is Error => fault instanceof Error && /^NOPERM/.test(fault.message);
