/** Decides from the detector's probabilities when somebody begins and ends to speak: for hands-free talk. Pure. */
export interface GateState {
  readonly isOpen: boolean;
  /** Since the sound was last quiet. */
  readonly voicedMs: number;
  /** Since the last voice. */
  readonly quietMs: number;
}

export const CLOSED_GATE: GateState = { isOpen: false, voicedMs: 0, quietMs: 0 };

const VOICE = 0.5;
/** Between the two a frame changes nothing: the ends of words are unsure. */
const QUIET = 0.35;
const OPENS_AFTER_MS = 60;
/** The pause that ends an utterance. Shorter ones are pauses inside a sentence. */
export const CLOSES_AFTER_MS = 700;

export function hear(state: GateState, probability: number, frameMs: number): GateState {
  const isVoice = probability >= VOICE;
  const isUnsure = !isVoice && probability >= QUIET;
  const voicedMs = isVoice || (isUnsure && state.voicedMs > 0) ? state.voicedMs + frameMs : 0;
  const quietMs = isVoice ? 0 : state.quietMs + frameMs;
  const isOpen = state.isOpen ? quietMs < CLOSES_AFTER_MS : voicedMs >= OPENS_AFTER_MS;
  return { isOpen, voicedMs, quietMs };
}
