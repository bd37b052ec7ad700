/** Vocabulary: stages of an utterance, and chains: the stages that one job performs on one node under one lease. Pure. */
import type { Language } from './language.ts';

/** In the order in which an utterance passes them. */
export const STAGES = ['asr', 'semantic', 'nmt', 'tts'] as const;
export type Stage = (typeof STAGES)[number];

export interface Chain {
  /** Consecutive in the path of an utterance, at least one, at most one of each. */
  readonly stages: readonly Stage[];
  readonly input: 'audio' | 'text';
  /** The language of the input; `auto`: the node recognises it. */
  readonly source: Language;
  /** The language of the output; without `nmt` it is the source. */
  readonly target: Language;
}

/** Equal chains have equal ids, so the id names the chain among all chains of one utterance. */
export const chainId = ({ stages, source, target }: Omit<Chain, 'input'>): string =>
  `${stages.join('+')}:${source === target ? source : `${source}>${target}`}`;
