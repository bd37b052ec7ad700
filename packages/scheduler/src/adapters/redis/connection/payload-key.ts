/** Cold path, at the start: checks that this instance has the key with which the texts in Redis are sealed, and marks its own. */
import { SchedulerError } from '../../../domain/errors.ts';
import type { Keys } from '../keys.ts';
import { fingerprintOf, type PayloadKeys } from '../sealed-payload.ts';
import { asDependency } from './dependency.ts';
import type { RedisConnection } from './redis-connection.ts';

/** The mark is "<key id> <fingerprint>" of the instance that started last. Throws SCHEDULER_DEPENDENCY_DOWN if its key is missing here. */
export async function checkPayloadKey(
  connection: RedisConnection,
  keys: Pick<Keys, 'payloadKey'>,
  payloadKeys: PayloadKeys | undefined,
): Promise<void> {
  const found = await asDependency('checking the payload key', () => connection.get(keys.payloadKey));
  const marks = (payloadKeys ?? []).map((key) => `${key.id} ${fingerprintOf(key)}`);
  const why = found === null ? undefined : whyRefused(found, marks);
  if (why !== undefined)
    throw new SchedulerError(
      'SCHEDULER_DEPENDENCY_DOWN',
      `the texts in Redis are sealed (${keys.payloadKey}), and ${why}. ` +
        'Give all instances the same keys; a key that was replaced has to stay in the file, below the new one. ' +
        `To give up the sealed texts, stop all instances and remove the mark: redis-cli DEL ${keys.payloadKey}`,
    );
  const [own] = marks;
  if (own !== undefined && own !== found)
    await asDependency('marking the payload key', () => connection.set(keys.payloadKey, own));
}

function whyRefused(found: string, marks: readonly string[]): string | undefined {
  if (marks.includes(found)) return undefined;
  const [id] = found.split(' ');
  if (marks.length === 0) return 'scheduler.cluster.payload_key_file is not set';
  return marks.some((mark) => mark.startsWith(`${id} `))
    ? `scheduler.cluster.payload_key_file has another key under the id ${id}`
    : `scheduler.cluster.payload_key_file does not have their key ${id}`;
}
