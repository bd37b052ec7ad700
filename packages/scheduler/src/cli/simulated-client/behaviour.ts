/** How simulated people talk. */

export interface TalkBehaviour {
  /** Length of one piece of audio. */
  readonly chunkMs: number;
  /** Usual length of an utterance, and of the silence after it. */
  readonly utteranceMs: number;
  readonly pauseMs: number;
  /** How often they lose their connection; 0 = never. */
  readonly cutEveryMs: number;
}
