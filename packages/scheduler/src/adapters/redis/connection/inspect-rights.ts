/** Cold path, at the start: checks that this user of Redis may publish and subscribe on the channels between instances. */
import { SchedulerError } from '../../../domain/errors.ts';
import { type Keys, NOTICE_PARTS } from '../keys.ts';
import { createChannels } from './channels.ts';
import type { RedisConnection } from './redis-connection.ts';
import { mastersOf } from './servers.ts';

/** An empty list of notices, which has no effect on its receivers. */
const NOTHING = '[]';

/**
 * Throws SCHEDULER_DEPENDENCY_DOWN, with the command that fixes it, if the user may not. Without subscriptions an instance would not
 * notice that nodes left, and would see new ones late. A server that does not answer now is no reason: subscriptions resume with it.
 */
export async function inspectRights(deps: {
  connection: RedisConnection;
  /** For subscriptions only. */
  subscriber: RedisConnection;
  keys: Pick<Keys, 'nodeNotices'>;
  /** Prefix of all channels. */
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
