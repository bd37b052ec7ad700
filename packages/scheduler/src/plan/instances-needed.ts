/** Planning: how many instances of the scheduler the jobs need. They are bound by their CPU, not by the nodes. Pure. */

/**
 * Jobs per second of one instance on one core. Measured by `npm run bench -- --only cycle` on a busy machine with two cores: 14,500
 * full cycles took 12 s of CPU, those of the nodes that answered included. Rounded down; Redis was not part of it.
 */
export const USUAL_INSTANCE_RATE = 1_000;

export const instancesNeeded = (arrivalsPerSecond: number, instanceRate: number): number =>
  Math.max(1, Math.ceil(arrivalsPerSecond / instanceRate));
