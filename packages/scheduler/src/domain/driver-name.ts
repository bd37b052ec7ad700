/** Vocabulary: one life of an instance, in one word: who drives a job, owns a session or holds a node. */

export interface InstanceIncarnation {
  readonly instanceId: string;
  readonly incarnation: string;
}

export const driverName = ({ instanceId, incarnation }: InstanceIncarnation): string =>
  `${instanceId}/${incarnation}`;

/** Ids of instances have no slash. */
export const instanceOf = (driver: string): string => driver.slice(0, Math.max(0, driver.lastIndexOf('/')));
