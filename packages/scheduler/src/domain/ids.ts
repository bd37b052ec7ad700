/** Vocabulary: what an id from outside may look like, and how our own are spelled. */
export type NodeId = string;
export type JobId = string;
export type SessionId = string;
export type TenantId = string;

/** Requests that name no tenant belong to this one. */
export const DEFAULT_TENANT: TenantId = 'default';

const OUTSIDE_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export const isOutsideId = (value: string): boolean => OUTSIDE_ID.test(value);

/** A name from elsewhere, of a machine for instance, as one of ours; shorter, so that something can be added. */
export const asOutsideId = (name: string): string =>
  name.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, 100) || '-';
