/** The reply of a script that knows something later. */
import type { Stale } from '../../../ports/node-records.ts';
import type { Reply } from '../connection/script.ts';

export const staleOf = ([, generation, version]: Reply): Stale => ({
  kind: 'stale',
  generation: Number(generation),
  version: Number(version),
});
