/** Vocabulary: the form of ids from outside and of our own. */
export type NodeId = string;
export type JobId = string;
export type SessionId = string;
export type TenantId = string;

/** The tenant of requests that name none. */
export const DEFAULT_TENANT: TenantId = 'default';

const OUTSIDE_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export const isOutsideId = (value: string): boolean => OUTSIDE_ID.test(value);

/** Turns any name, for example of a machine, into an id; shortened, so that a suffix fits. */
export const asOutsideId = (name: string): string =>
  name.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, 100) || '-';
