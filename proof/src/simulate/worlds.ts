/** A run is made of worlds: many jobs are lived through in several, each with a fate of its own. Pure. */

export interface World {
  /** Whoever names it as a seed, with as many jobs, sees this world again. */
  readonly seed: string;
  readonly jobs: number;
}

/** So many that the quiet at the end of a world costs little beside them, and so few that a run has many fates. */
export const JOBS_PER_WORLD = 5_000;

/** However many processors there are: a run is the same everywhere. */
export function cutIntoWorlds(seed: string, jobs: number, most: number = JOBS_PER_WORLD): readonly World[] {
  if (jobs <= most) return [{ seed, jobs }];
  const count = Math.ceil(jobs / most);
  return Array.from({ length: count }, (_, at) => ({
    seed: `${seed}/${at + 1}`,
    jobs: Math.floor((jobs * (at + 1)) / count) - Math.floor((jobs * at) / count),
  }));
}
