/** Cold path: cuts the path of one target into the fewest chains that nodes can run. Pure. */
import type { Language } from '../../domain/language.ts';
import type { Chain, Stage } from '../../domain/stage.ts';

export interface PathStep {
  readonly stage: Stage;
  readonly source: Language;
  readonly target: Language;
}

/** Of equally short splits, the one whose first chain is longest. Undefined: some step has no node. */
export function splitPath(
  steps: readonly PathStep[],
  input: Chain['input'],
  canRun: (chain: Chain) => boolean,
): readonly Chain[] | undefined {
  /** The best split of the steps from each position to the end. */
  const best: (readonly Chain[] | undefined)[] = steps.map(() => undefined);
  best.push([]);
  for (let from = steps.length - 1; from >= 0; from -= 1) {
    for (let to = steps.length; to > from; to -= 1) {
      const rest = best[to];
      const shortest = best[from]?.length ?? Number.POSITIVE_INFINITY;
      if (rest === undefined || rest.length + 1 >= shortest) continue;
      const chain = chainOf(steps.slice(from, to), from === 0 ? input : 'text');
      if (chain !== undefined && canRun(chain)) best[from] = [chain, ...rest];
    }
  }
  return best[0];
}

/** Undefined: a chain has each stage at most once. */
function chainOf(steps: readonly PathStep[], input: Chain['input']): Chain | undefined {
  const stages = steps.map(({ stage }) => stage);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || new Set(stages).size < stages.length) return undefined;
  return { stages, input, source: first.source, target: last.target };
}
