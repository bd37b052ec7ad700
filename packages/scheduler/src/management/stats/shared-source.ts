/**
 * Cold path: the statistics of all instances. Each instance writes its part; the instance with the lock merges the parts of living
 * instances; all instances show the result. If the parts cannot be read, there is no result: the part of one instance is never shown as the
 * whole.
 */
import type { Clock } from '../../ports/clock.ts';
import type { Locks } from '../../ports/locks.ts';
import type { Log } from '../../ports/log.ts';
import type { StatsStore } from '../../ports/stats-store.ts';
import { inSteps } from './count-part.ts';
import { mergeParts } from './merge-parts.ts';
import { readPart, type StatsPart } from './stats-part.ts';
import type { SnapshotSource, StatsSnapshot } from './stats-service.ts';

const SNAPSHOT_TTL_MS = 45_000;
const LOCK = 'stats';

export function createSharedSource(deps: {
  readonly count: () => Promise<StatsPart>;
  readonly statsStore: StatsStore;
  readonly locks: Locks;
  readonly instanceId: string;
  /** Living instances, with or without this one. */
  readonly living: () => Promise<Iterable<string>>;
  /** This instance may have been declared dead: it then writes nothing. */
  readonly isFenced: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Time between two builds. */
  readonly intervalMs: number;
}): Required<SnapshotSource> {
  /** An instance may miss two writes before its part expires. */
  const partTtlMs = 3 * deps.intervalMs;
  /** Shorter than the time between two builds of one instance, so the same instance gets the lock again. */
  const lockTtlMs = 0.8 * deps.intervalMs;
  const { statsStore, locks, instanceId, clock, log } = deps;
  let seen: { readonly text: string; readonly stats: StatsPart } | undefined;

  /** One after the other: each is parsed in its own slice. */
  async function* partsOfOthers(): AsyncGenerator<StatsPart> {
    for (const other of await deps.living()) {
      if (other === instanceId) continue;
      const text = await statsStore.read(other);
      const part = text === undefined ? undefined : parse(text, other);
      if (part !== undefined) yield part;
    }
  }

  function parse(text: string, of: string): StatsPart | undefined {
    const part = readPart(text);
    if (part === undefined) log.warn({ of_instance: of }, 'cannot read the statistics of an instance');
    return part;
  }

  async function mergeAll(own: StatsPart): Promise<StatsPart> {
    const parts = [own];
    for await (const part of partsOfOthers()) parts.push(part);
    return inSteps(mergeParts(parts), clock);
  }

  async function look(): Promise<StatsSnapshot | undefined> {
    const found = await statsStore.latest();
    if (found === undefined) return undefined;
    if (seen?.text !== found.text) {
      const stats = parse(found.text, 'all');
      if (stats === undefined) return undefined;
      seen = { text: found.text, stats };
    }
    const ageMs = Math.max(0, SNAPSHOT_TTL_MS - found.leftMs);
    return { stats: seen.stats, updatedAt: clock.now() - ageMs };
  }

  return {
    look,
    async build() {
      const own = await deps.count();
      if (deps.isFenced()) return undefined;
      await statsStore.write(instanceId, JSON.stringify(own), partTtlMs);
      if (await locks.take(LOCK, lockTtlMs)) {
        const all = await mergeAll(own);
        await statsStore.publish(JSON.stringify(all), SNAPSHOT_TTL_MS);
      }
      return look();
    },
  };
}
