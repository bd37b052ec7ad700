/** Moves hash slots of a Redis Cluster from one master to another while both serve, a few keys at a time, as Redis' own tool does. */
import type { Redis } from 'ioredis';

export interface Master {
  readonly port: number;
  readonly client: Redis;
}

const KEYS_AT_ONCE = 10;
const MIGRATE_MS = 5_000;
const PAUSE_MS = 15;

/** Every one of `masters` is sent the new master of the hash slot. */
export async function moveSlots(
  slots: readonly number[],
  { from, to, masters }: { readonly from: Master; readonly to: Master; readonly masters: readonly Master[] },
): Promise<void> {
  const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
  for (const slot of slots) {
    await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    // While a hash slot moves, some of its keys are on each server.
    for (let keys = await keysIn(from, slot); keys.length > 0; keys = await keysIn(from, slot)) {
      await from.client.call('MIGRATE', '127.0.0.1', to.port, '', 0, MIGRATE_MS, 'KEYS', ...keys);
      await pause();
    }
    // The new one first: one server must have the hash slot at any time.
    for (const master of [to, from, ...masters.filter((each) => each !== to && each !== from)])
      await master.client.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    await pause();
  }
}

/** Hash slots of this master that hold keys, fullest first. */
export async function fullSlots({ client }: Master, most: number): Promise<number[]> {
  const own = await slotsOf(client);
  const counting = client.pipeline();
  for (const slot of own) counting.call('CLUSTER', 'COUNTKEYSINSLOT', slot);
  const counts = (await counting.exec()) ?? [];
  return own
    .map((slot, at) => ({ slot, keys: Number(counts[at]?.[1] ?? 0) }))
    .filter(({ keys }) => keys > 0)
    .sort((one, other) => other.keys - one.keys)
    .slice(0, most)
    .map(({ slot }) => slot);
}

async function slotsOf(client: Redis): Promise<number[]> {
  const text = String(await client.call('CLUSTER', 'NODES'));
  const mine = text.split('\n').find((line) => line.includes('myself')) ?? '';
  const ranges = mine
    .split(' ')
    .slice(8)
    .filter((part) => /^\d+(-\d+)?$/.test(part))
    .map((part) => part.split('-').map(Number));
  return ranges.flatMap(([first = 0, last = first]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
}

const idOf = async ({ client }: Master): Promise<string> => String(await client.call('CLUSTER', 'MYID'));

const keysIn = async ({ client }: Master, slot: number): Promise<string[]> =>
  (await client.call('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE)) as string[];

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
