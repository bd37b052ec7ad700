/** Vocabulary: the form of ids from outside and of our own. */
export type NodeId = string;
export type JobId = string;
export type SessionId = string;
export type TenantId = string;

/** The tenant of requests that name none. */
export const DEFAULT_TENANT: TenantId = 'default';

/**
 * The only tenant whose jobs a node takes: the one that its token names; undefined: all. A node of no tenant that takes no public jobs
 * gets the jobs that name no tenant.
 */
export const ownerOf = (tenantId: TenantId | undefined, acceptsPublicJobs: boolean): TenantId | undefined =>
  tenantId ?? (acceptsPublicJobs ? undefined : DEFAULT_TENANT);

const OUTSIDE_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export const isOutsideId = (value: string): boolean => OUTSIDE_ID.test(value);

/** Turns any name, for example of a machine, into an id; shortened, so that a suffix fits. */
export const asOutsideId = (name: string): string =>
  name.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, 100) || '-';

/** One incarnation of an instance: the driver of a job, the owner of a session or the holder of a node. */
export interface InstanceIncarnation {
  readonly instanceId: string;
  readonly incarnation: string;
}

export const driverName = ({ instanceId, incarnation }: InstanceIncarnation): string =>
  `${instanceId}/${incarnation}`;

/** Instance ids contain no slash. */
export const instanceOf = (driver: string): string => driver.slice(0, Math.max(0, driver.lastIndexOf('/')));
