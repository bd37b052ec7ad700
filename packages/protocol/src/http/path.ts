/** Path parameters and queries that several endpoints share. */
import { type Static, Type } from 'typebox';
import { count, id, optional, text } from '../shared/bounded.ts';

export const LONGEST_WAIT_MS = 60_000;
export const LARGEST_PAGE = 1_000;

export const NodePath = Type.Object({ id: id('Node') }, { title: 'NodePath', description: 'Names a node' });
export type NodePath = Static<typeof NodePath>;

export const JobPath = Type.Object({ id: id('Job') }, { title: 'JobPath', description: 'Names a job' });
export type JobPath = Static<typeof JobPath>;

/** For clients that cannot send headers: EventSource, and the audio element of browsers. */
export const TokenQuery = Type.Object(
  { token: optional(text('The token, instead of the Authorization header', 4096)) },
  { title: 'TokenQuery', description: 'Credential in the URL' },
);
export type TokenQuery = Static<typeof TokenQuery>;

export const AudioPath = Type.Object(
  { ref: id('Job whose audio it is') },
  { title: 'AudioPath', description: 'Names the audio of a job' },
);
export type AudioPath = Static<typeof AudioPath>;

export const WaitQuery = Type.Object(
  { wait_ms: optional(count('How long the reply may be delayed', { maximum: LONGEST_WAIT_MS })) },
  { title: 'WaitQuery', description: 'Long polling' },
);
export type WaitQuery = Static<typeof WaitQuery>;

/** The most jobs in one reply to a fetching node. */
export const MAX_JOBS_FETCHED = 1_000;

export const FetchQuery = Type.Object(
  {
    ...WaitQuery.properties,
    max: optional(count('Jobs at once; 16 if absent', { minimum: 1, maximum: MAX_JOBS_FETCHED })),
  },
  { title: 'FetchQuery', description: 'Long polling for jobs' },
);
export type FetchQuery = Static<typeof FetchQuery>;

export const pageFields = {
  limit: optional(count('Entries per page', { minimum: 1, maximum: LARGEST_PAGE })),
  cursor: optional(text('next_cursor of the previous page', 1024)),
};

export const nextCursor = optional(text('Cursor of the next page; absent on the last', 1024));
