/** Begins faults as planned, ends them, and records both. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isGreat, type PlannedFault, type PlannedKind } from '../plan-faults.ts';
import { breakEdges } from './break-edges.ts';
import { breakInstances } from './break-instances.ts';
import { breakStore } from './break-store.ts';
import type { Break, World } from './world.ts';

/** Runs the whole plan; resolves when all faults have ended. */
export async function injectFaults(
  world: World,
  plan: readonly PlannedFault[],
  withinMs: number,
): Promise<void> {
  const { recorder } = world;
  const breaks: Record<PlannedKind, Break> = {
    ...breakInstances(world),
    ...breakStore(world),
    ...breakEdges(world),
  };
  const startedAt = recorder.now();
  const small: Promise<void>[] = [];
  let great = Promise.resolve();
  let number = 0;

  const inject = async (planned: PlannedFault): Promise<void> => {
    number += 1;
    const fault = number;
    await breaks[planned.what](planned, (target) => {
      recorder.record({ kind: 'fault_began', fault, what: planned.what, target });
      return () => recorder.record({ kind: 'fault_ended', fault });
    });
  };

  for (const planned of plan) {
    await sleep(Math.max(0, startedAt + planned.atMs - recorder.now()));
    if (!isGreat(planned.what)) small.push(inject(planned));
    // A fault may last longer than planned: the next waits for it, and those that would be too late are left out.
    else great = great.then(() => (recorder.now() - startedAt < withinMs ? inject(planned) : undefined));
  }
  await Promise.all([great, ...small]);
}
