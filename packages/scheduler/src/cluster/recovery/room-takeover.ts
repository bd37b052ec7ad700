/**
 * Background actor: continues the rooms of dead instances. Survivors take turns, so that two rarely do the same; doing it twice changes
 * nothing, because of several drivers the log names the first.
 */
import type { Clock } from '../../ports/clock.ts';
import type { Living } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';

const RETRY_MS = 1_000;

export function createRoomTakeover(deps: {
  readonly self: () => { readonly instanceId: string };
  readonly living: () => Promise<Living>;
  readonly takeOver: (instanceId: string) => Promise<void>;
  /** How long one survivor has before the next one helps. */
  readonly turnMs: number;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { clock, log, turnMs } = deps;
  /** Those that are dead and not finished here. */
  const known = new Map<string, 'waiting' | 'done'>();

  async function run(instanceId: string): Promise<void> {
    try {
      const living = [...(await deps.living()).keys()].sort();
      const turn = Math.max(0, living.indexOf(deps.self().instanceId));
      await new Promise<void>((resolve) => void clock.after(turn * turnMs, resolve));
      // It may live again: then its rooms are its own.
      if (!known.has(instanceId) || (await deps.living()).has(instanceId)) return;
      await deps.takeOver(instanceId);
      if (known.has(instanceId)) known.set(instanceId, 'done');
    } catch (fault) {
      log.warn({ of_instance: instanceId, err: fault }, 'rooms of a dead instance are continued later');
      clock.after(RETRY_MS, () => void (known.has(instanceId) && run(instanceId)));
    }
  }

  async function takeOverPrevious(): Promise<void> {
    try {
      await deps.takeOver(deps.self().instanceId);
    } catch (fault) {
      log.warn({ err: fault }, 'rooms of the previous incarnation are continued later');
      clock.after(RETRY_MS, () => void takeOverPrevious());
    }
  }

  return {
    /** Others leave them to this instance, which lives under the same name. */
    takeOverPrevious,
    /** These are dead. Called again and again until they are removed. */
    died(instanceIds: readonly string[]): void {
      for (const each of known.keys()) if (!instanceIds.includes(each)) known.delete(each);
      for (const each of instanceIds) {
        if (known.has(each)) continue;
        known.set(each, 'waiting');
        void run(each);
      }
    },
  };
}
