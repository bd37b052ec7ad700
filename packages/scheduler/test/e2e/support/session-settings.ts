/** Settings that make sessions quick, so that no test waits for what people wait for. */
import type { Settings } from './start-app.ts';

const CUT = 'scheduler.web_task_segmentation';

/** A pause is longer than any hiccup of the machine; an end is believed almost at once. */
export const QUICK: Settings = {
  [`${CUT}.edge_stabilization.late_audio_ms`]: 20,
  [`${CUT}.edge_stabilization.hangover_manual_ms`]: 10,
  [`${CUT}.edge_stabilization.hangover_auto_ms`]: 10,
};

/** Utterances end by themselves, soon. */
export const SHORT_PAUSE: Settings = { ...QUICK, [`${CUT}.pause_ms`]: 60 };

export const MAX_BYTES = `${CUT}.max_bytes`;
export const MAX_DURATION = `${CUT}.max_duration_ms`;
