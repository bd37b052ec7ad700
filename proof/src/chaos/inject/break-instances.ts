/** Instances die, freeze, are restarted, lose their connections to the store, and have wrong clocks. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlannedFault } from '../plan-faults.ts';
import type { Instance } from '../rig/instance.ts';
import type { Break, World } from './world.ts';

/** How wrong a clock may be, in either direction. */
const [LEAST_WRONG_MS, MOST_WRONG_MS] = [1_000, 30_000];
/** In each direction: a command takes longer, and not longer than it may. */
const [SLOW_MS, SLOWEST_MS] = [5, 120];

export function breakInstances({ schedulers }: World) {
  const placeOf = ({ pick }: PlannedFault): number => pick % schedulers.places;
  const instanceAt = (planned: PlannedFault): Instance => schedulers.at(placeOf(planned));
  const wiresAt = (planned: PlannedFault) => schedulers.wires(placeOf(planned));
  /** Instances whose connection to the store is bad already. */
  const hampered = new Set<number>();

  /** The next process, if any, has a right clock. */
  const hamper =
    (delayMs: (planned: PlannedFault) => number): Break =>
    async (planned, begin) => {
      const place = placeOf(planned);
      if (hampered.has(place)) return;
      hampered.add(place);
      const end = begin(instanceAt(planned).name);
      wiresAt(planned).delay(delayMs(planned));
      await sleep(planned.lastsMs);
      wiresAt(planned).delay(0);
      end();
      hampered.delete(place);
    };

  const restart = async (planned: PlannedFault, clockAheadMs: number): Promise<void> => {
    await instanceAt(planned).terminate();
    await schedulers.start(placeOf(planned), { clockAheadMs });
  };

  return {
    async instance_killed(planned, begin) {
      const end = begin(instanceAt(planned).name);
      await instanceAt(planned).kill();
      await sleep(planned.lastsMs);
      await schedulers.start(placeOf(planned));
      end();
    },
    async instance_frozen(planned, begin) {
      const instance = instanceAt(planned);
      const end = begin(instance.name);
      instance.freeze();
      await sleep(planned.lastsMs);
      end();
      instance.thaw();
    },
    async instance_restarted(planned, begin) {
      const end = begin(instanceAt(planned).name);
      await restart(planned, 0);
      end();
    },
    async clock_set(planned, begin) {
      const end = begin(instanceAt(planned).name);
      await restart(planned, wrongBy(planned));
      end();
    },
    instance_cut_off: hamper(() => Number.POSITIVE_INFINITY),
    store_slow: hamper(({ degree }) => SLOW_MS + degree * (SLOWEST_MS - SLOW_MS)),
    async store_cut(planned, begin) {
      const end = begin(instanceAt(planned).name);
      wiresAt(planned).cut();
      end();
    },
  } satisfies Record<string, Break>;
}

/** Ahead or behind. */
function wrongBy({ degree, pick }: PlannedFault): number {
  const ms = Math.round(LEAST_WRONG_MS + degree * (MOST_WRONG_MS - LEAST_WRONG_MS));
  return pick % 2 === 0 ? ms : -ms;
}
