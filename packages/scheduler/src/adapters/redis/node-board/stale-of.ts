/** The reply of a script that knows something later. */
import type { Stale } from '../../../ports/node-board.ts';
import type { Reply } from '../script.ts';

export const staleOf = ([, generation, version]: Reply): Stale => ({
  kind: 'stale',
  generation: Number(generation),
  version: Number(version),
});
