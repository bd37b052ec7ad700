/** Which hash slots commands use in a Cluster: by hash slot, by what it belongs to, by master if there were three. */
import { Command } from 'ioredis';

const SLOTS = 16_384;
const MASTERS = 3;

export interface Spread {
  /** Of the nodes, jobs and instances used: commands of the busiest ÷ of the mean. */
  readonly busiestByKind: ReadonlyMap<string, number>;
  readonly busiestMaster: number;
  /** Share of all commands that use the busiest hash slot. */
  readonly busiestSlotShare: number;
  /** Of the hash slots in use. A few nodes share one by chance, two or three; an instance has its own. */
  readonly busiestSlot: number;
}

/** Scripts name their keys; the first decides the hash slot of all. */
function keyOf([name, ...args]: readonly string[]): string | undefined {
  return /^evalsha(_ro)?$|^eval(_ro)?$/i.test(name ?? '') ? args[2] : args[0];
}

export function spreadOf(commands: readonly (readonly string[])[]): Spread {
  const byTag = new Map<string, Map<string, number>>();
  const bySlot = new Map<number, number>();
  const byMaster = new Array<number>(MASTERS).fill(0);
  for (const command of commands) {
    const key = keyOf(command);
    if (key === undefined) continue;
    const slot = new Command('exists', [key]).getSlot();
    add(bySlot, slot);
    const master = Math.floor((slot * MASTERS) / SLOTS);
    byMaster[master] = (byMaster[master] ?? 0) + 1;
    const [, kind, name] = /\{([a-z]+):([^}]*)\}/.exec(key) ?? [];
    if (kind === undefined || name === undefined) continue;
    const tags = byTag.get(kind) ?? new Map<string, number>();
    byTag.set(kind, tags);
    add(tags, name);
  }
  const busiest = [...bySlot.values()].reduce((most, count) => Math.max(most, count), 0);
  return {
    busiestByKind: new Map([...byTag].map(([kind, tags]) => [kind, busiestOverMean([...tags.values()])])),
    busiestMaster: busiestOverMean(byMaster),
    busiestSlotShare: busiest / commands.length,
    busiestSlot: busiestOverMean([...bySlot.values()]),
  };
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const busiestOverMean = (counts: readonly number[]): number =>
  (Math.max(...counts) * counts.length) / counts.reduce((sum, count) => sum + count, 0);
