/** The summary of a whole talk. */
import type { Counts } from './tally.ts';

export interface Summary extends Counts {
  readonly sessions: number;
  /** Of the last few thousand outcomes. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number } | undefined;
}

/** Latencies that are kept. */
const SAMPLES = 10_000;

export function createLatencies() {
  const samples: number[] = [];
  let next = 0;
  return {
    add(ms: number): void {
      samples[next] = ms;
      next = (next + 1) % SAMPLES;
    },
    read(): Summary['latencyMs'] {
      if (samples.length === 0) return undefined;
      const sorted = [...samples].sort((one, other) => one - other);
      return { p50: at(sorted, 0.5), p99: at(sorted, 0.99), max: at(sorted, 1) };
    },
  };
}

const at = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0);

export function sumUp(all: readonly Counts[], latencyMs: Summary['latencyMs']): Summary {
  const sum = (read: (counts: Counts) => number): number =>
    all.reduce((total, counts) => total + read(counts), 0);
  const missing: Record<string, number> = {};
  for (const counts of all) {
    for (const [reason, count] of Object.entries(counts.missing)) {
      missing[reason] = (missing[reason] ?? 0) + count;
    }
  }
  return {
    sessions: all.length,
    utterances: sum((counts) => counts.utterances),
    results: sum((counts) => counts.results),
    missing,
    lost: sum((counts) => counts.lost),
    doubled: sum((counts) => counts.doubled),
    outOfOrder: sum((counts) => counts.outOfOrder),
    refusedBytes: sum((counts) => counts.refusedBytes),
    disconnects: sum((counts) => counts.disconnects),
    resumed: sum((counts) => counts.resumed),
    reopened: sum((counts) => counts.reopened),
    latencyMs,
  };
}

/** Every utterance had exactly one outcome, in order, and all audio was accepted. */
export const isFaultless = ({ lost, doubled, outOfOrder, refusedBytes }: Summary): boolean =>
  lost + doubled + outOfOrder + refusedBytes === 0;
