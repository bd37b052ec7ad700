/** What simulated people do next. Pure; chance comes in as an argument. */
import { PHRASE_COUNT } from '../simulated-node/phrases.ts';
import type { Said } from '../simulated-speech.ts';

export interface Turn extends Said {
  readonly speakMs: number;
  readonly pauseMs: number;
}

/** `number` counts the turns of a conversation from 1; the two speak in turn. */
export function planTurn(behaviour: TalkBehaviour, number: number, chance: () => number): Turn {
  return {
    isSecondSpeaker: number % 2 === 0,
    phrase: Math.floor(chance() * PHRASE_COUNT),
    speakMs: Math.max(behaviour.chunkMs, vary(behaviour.utteranceMs, chance)),
    pauseMs: vary(behaviour.pauseMs, chance),
  };
}

/** The first cut comes at a random time, so that many conversations are not cut at once. */
export const planCut = ({ cutEveryMs }: TalkBehaviour, number: number, chance: () => number): number =>
  number === 1 ? cutEveryMs * chance() : cutEveryMs;

/** From half to one and a half times as long. */
const vary = (usualMs: number, chance: () => number): number => usualMs * (0.5 + chance());

export interface TalkBehaviour {
  /** Length of one piece of audio. */
  readonly chunkMs: number;
  /** Usual length of an utterance, and of the silence after it. */
  readonly utteranceMs: number;
  readonly pauseMs: number;
  /** How often they lose their connection; 0 = never. */
  readonly cutEveryMs: number;
}
