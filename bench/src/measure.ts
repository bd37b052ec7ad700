/** Measuring on a shared, noisy machine: rounds, medians, and ratios within one run. */

export interface Figure {
  readonly scenario: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** It is more than `value`: no higher rate was tried. */
  readonly isMore?: true;
  /** The target, if the project has one here. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const isMet = ({ value, target }: Figure): boolean | undefined => {
  if (target === undefined) return undefined;
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
};

/** Microseconds of CPU this process has used. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Bytes on the heap and in buffers, after a collection. */
export async function memoryBytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
