/** Redis: masters die and freeze, hash slots move, and all servers are down for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlannedFault } from '../plan-faults.ts';
import type { RedisStore } from '../rig/redis-store.ts';
import type { Break, World } from './world.ts';

const SLOTS_AT_MOST = 80;

export function breakStore({ store }: World) {
  async function withMasters(
    { pick }: PlannedFault,
    use: (redis: RedisStore, port: number, other: number) => Promise<void>,
  ): Promise<void> {
    if (store === undefined) return;
    const masters = await store.masters();
    const [port, other] = [masters[pick % masters.length], masters[(pick + 1) % masters.length]];
    if (port !== undefined && other !== undefined) await use(store, port, other);
  }

  return {
    master_killed: (planned, begin) =>
      withMasters(planned, async (redis, port) => {
        const end = begin(`redis :${port}`);
        redis.kill(port);
        await sleep(planned.lastsMs);
        await redis.revive(port);
        end();
      }),
    master_frozen: (planned, begin) =>
      withMasters(planned, async (redis, port) => {
        const end = begin(`redis :${port}`);
        redis.freeze(port);
        await sleep(planned.lastsMs);
        redis.thaw(port);
        await redis.whole();
        end();
      }),
    slots_moved: (planned, begin) =>
      withMasters(planned, async (redis, port, other) => {
        const end = begin(`redis :${port} to :${other}`);
        await redis.moveSlots(port, other, SLOTS_AT_MOST);
        end();
      }),
    async store_down(planned, begin) {
      if (store === undefined) return;
      store.freezeAll();
      const end = begin('all of redis');
      await sleep(planned.lastsMs);
      end();
      store.thawAll();
      await store.whole();
    },
  } satisfies Record<string, Break>;
}
