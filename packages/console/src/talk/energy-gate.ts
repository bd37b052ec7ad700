/** Decides from its loudness whether somebody speaks: for hands-free talk. Pure. */
export interface GateState {
  readonly isOpen: boolean;
  /** Loudness of the room without speech, followed slowly. */
  readonly floor: number;
  readonly loudMs: number;
  readonly quietMs: number;
}

export const CLOSED_GATE: GateState = { isOpen: false, floor: 0.004, loudMs: 0, quietMs: 0 };

/** Speech is this much louder than the room. */
const FACTOR = 3;
/** Below this nothing is speech, also in a silent room. */
const LEAST_LOUDNESS = 0.012;
const OPENS_AFTER_MS = 80;
const CLOSES_AFTER_MS = 900;
const FLOOR_FOLLOWS = 0.05;

export const thresholdOf = ({ floor }: GateState): number => Math.max(LEAST_LOUDNESS, floor * FACTOR);

export function hear(state: GateState, loudness: number, frameMs: number): GateState {
  const isLoud = loudness > thresholdOf(state);
  const loudMs = isLoud ? state.loudMs + frameMs : 0;
  const quietMs = isLoud ? 0 : state.quietMs + frameMs;
  const floor = isLoud ? state.floor : state.floor + (loudness - state.floor) * FLOOR_FOLLOWS;
  const isOpen = state.isOpen ? quietMs < CLOSES_AFTER_MS : loudMs >= OPENS_AFTER_MS;
  return { isOpen, floor, loudMs, quietMs };
}
