/** A run consists of worlds: many jobs are divided among several worlds, each with its own seed. Pure. */

export interface World {
  /** Used as a seed, with as many jobs, it repeats this world. */
  readonly seed: string;
  readonly jobs: number;
}

/** So many that the rest at the end of a world costs little, and so few that a run has many worlds. */
export const JOBS_PER_WORLD = 5_000;

/** Independent of the number of processors: a run is the same everywhere. */
export function cutIntoWorlds(seed: string, jobs: number, most: number = JOBS_PER_WORLD): readonly World[] {
  if (jobs <= most) return [{ seed, jobs }];
  const count = Math.ceil(jobs / most);
  return Array.from({ length: count }, (_, at) => ({
    seed: `${seed}/${at + 1}`,
    jobs: Math.floor((jobs * (at + 1)) / count) - Math.floor((jobs * at) / count),
  }));
}
