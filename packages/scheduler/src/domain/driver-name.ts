/** Vocabulary: the name of one incarnation of an instance: the driver of a job, the owner of a session or the holder of a node. */

export interface InstanceIncarnation {
  readonly instanceId: string;
  readonly incarnation: string;
}

export const driverName = ({ instanceId, incarnation }: InstanceIncarnation): string =>
  `${instanceId}/${incarnation}`;

/** Instance ids contain no slash. */
export const instanceOf = (driver: string): string => driver.slice(0, Math.max(0, driver.lastIndexOf('/')));
