/** Planning: how many instances of the scheduler the jobs need. They are bound by their CPU, not by the nodes. Pure. */

/**
 * Jobs per second of one instance, on one core; see docs/operations.md for where it comes from.
 */
export const USUAL_INSTANCE_RATE = 1_500;

export const instancesNeeded = (arrivalsPerSecond: number, instanceRate: number): number =>
  Math.max(1, Math.ceil(arrivalsPerSecond / instanceRate));
