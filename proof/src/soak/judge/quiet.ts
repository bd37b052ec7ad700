/** Whether everything is as it was before the load. Pure. */
import type { Seen } from '../measure/sampler.ts';

export interface Left {
  readonly group: string;
  readonly name: string;
  /** The most there was before the load. */
  readonly before: number;
  readonly now: number;
}

export interface Baseline {
  add(seen: readonly Seen[]): void;
  /** What is above its limit, and was so at every check since the load ended: nodes poll and report, so something is always under way. */
  leftIn(seen: readonly Seen[]): Left[];
}

export function createBaseline(): Baseline {
  const most = new Map<string, number>();
  const wentBack = new Set<string>();
  const keyOf = ({ group, name }: Seen): string => `${group}\n${name}`;
  return {
    add(seen) {
      for (const each of seen) most.set(keyOf(each), Math.max(most.get(keyOf(each)) ?? 0, each.value));
    },
    leftIn: (seen) =>
      seen.flatMap((each) => {
        const { group, name, kind, value } = each;
        if (kind.afterwards === undefined) return [];
        const before = most.get(keyOf(each)) ?? 0;
        if (value <= before + kind.afterwards) wentBack.add(keyOf(each));
        return wentBack.has(keyOf(each)) ? [] : [{ group, name, before, now: value }];
      }),
  };
}
