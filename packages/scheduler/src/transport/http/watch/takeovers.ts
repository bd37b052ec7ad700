/** Cold path: what each instance took over from others, in one list. */
import type { TakeoversReply } from '@lingua/protocol';
import type { Gather } from '../../../cluster/operators/gather.ts';
import type { EndedTakeover } from '../../../cluster/recovery/takeover.ts';
import { answerers } from './answerers.ts';

export type ReadTakeovers = () => Promise<TakeoversReply>;

/** The limit of the reply; each of some hundred instances remembers 50. */
const MAX_SHOWN = 1_000;

export function createReadTakeovers(deps: {
  readonly gather: Gather;
  readonly recent: () => readonly EndedTakeover[];
}): ReadTakeovers {
  const gatherTakeovers = deps.gather('takeovers', async (_body: object) => deps.recent());
  return async () => {
    const gathered = await gatherTakeovers({});
    const lines = [...gathered.parts].flatMap(([takenOverBy, part]) =>
      part.map(({ instanceId, cause, jobs, endedAt }) => ({
        instance_id: instanceId,
        taken_over_by: takenOverBy,
        cause,
        jobs,
        at_ms: endedAt,
      })),
    );
    lines.sort((a, b) => b.at_ms - a.at_ms);
    return { takeovers: lines.slice(0, MAX_SHOWN), ...answerers(gathered) };
  };
}
