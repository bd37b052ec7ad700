/** Which instances answered a question to all. Pure. */
import type { Gathered } from '../../../cluster/operators/gather.ts';

export const answerers = ({ parts, unreachable }: Gathered<unknown>) => ({
  answered: [...parts.keys()],
  unreachable: [...unreachable],
});
